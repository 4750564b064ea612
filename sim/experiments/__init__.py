"""Many runs: replications, comparisons, what they mean, and where they are kept."""
