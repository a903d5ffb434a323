"""Tables for readers and programs: first numbers (`tables` and the columns), then text (`render`)."""
