"""Models of links that vary: a file a kind. `elephan.theory.linktraces` has them all."""
