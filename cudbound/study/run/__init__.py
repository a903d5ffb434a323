"""Running replicates on many cores, with results stored as soon as they are done."""
