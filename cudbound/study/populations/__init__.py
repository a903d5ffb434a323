"""What a study draws training sets from: simulated worlds, real data, data of the user's own."""
