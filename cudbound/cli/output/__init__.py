"""What a command leaves behind: tables, one line for each failure, exit codes."""
