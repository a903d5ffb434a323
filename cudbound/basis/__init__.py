"""What every room leans on: validation, outcomes, results, method cards, groups, seeds, rounding, exceptions."""
