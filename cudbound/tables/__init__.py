"""What users call: every method asked for, side by side, from shared refits or from recorded losses."""
