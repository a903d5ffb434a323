"""How many patients an interval of a target width takes: closed forms, and simulation from a pilot or a world."""
