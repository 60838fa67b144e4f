"""Many runs as one question: sweeps, studies, comparisons, paths, and the claims that judge them."""
