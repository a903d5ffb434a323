"""What users call: a question, a sample, a plan, the records, and the tables that are made of them."""
