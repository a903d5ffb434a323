"""What every package uses: validation, outcomes, results, method cards, groups, seeds, rounding, exceptions."""
