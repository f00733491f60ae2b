"""The examples of the guide and of the README run."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGES = ["docs/guide/python.md", "crates/jird-python/README.md"]
EXAMPLES = [
    (page, code) for page in PAGES for code in re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
]


@pytest.mark.parametrize(("page", "code"), EXAMPLES, ids=range(len(EXAMPLES)))
def test_an_example_runs(page, code):
    exec(compile(code, page, "exec"), {})


def test_there_are_examples():
    assert {page for page, _ in EXAMPLES} == set(PAGES)


def test_the_stubs_name_what_there_is():
    import jird

    stub = (pathlib.Path(jird.__file__).parent / "__init__.pyi").read_text()
    named = set(re.findall(r"^(?:def |class )?(\w+)[:(]", stub, re.MULTILINE)) - {"from", "overload", "import"}
    # Classes of what is returned, which have no name in the package.
    named -= {"ScanIter", "Table"}
    named |= {"JSONDecodeError", "JSONEncodeError"}
    assert set(jird.__all__) == named
    assert all(hasattr(jird, name) for name in named)
    for member in re.findall(r"    def (\w+)\(self", stub.split("class Document")[1]):
        assert hasattr(jird.Document, member), member
