"""The story of a run in plain words: `story.explain` asks each rule of `rules`."""
