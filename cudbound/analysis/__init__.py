"""The public functions: from a question and a sample, through a plan and records, to tables."""
