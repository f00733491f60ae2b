import os
import pathlib

import pytest

CORPUS = pathlib.Path(
    os.environ.get("JIRD_CORPUS") or pathlib.Path(__file__).resolve().parents[4] / "shared" / "corpus"
)


@pytest.fixture(scope="session")
def corpus():
    if not CORPUS.is_dir():
        # The step of `cargo xtask test` looks for such lines.
        print("\nskipped: the corpus")
        pytest.skip("skipped: the corpus")
    return CORPUS
