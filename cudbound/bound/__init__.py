"""The CUD bound: from draws to Q and its quantile."""
