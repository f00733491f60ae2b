"""The examples of the guide and of the README run."""

import os
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGES = ["docs/guide/python.md", "docs/guide/python-web.md", "crates/jird-python/README.md"]
EXAMPLES = [
    (page, code) for page in PAGES for code in re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
]


@pytest.mark.parametrize(("page", "code"), EXAMPLES, ids=range(len(EXAMPLES)))
def test_an_example_runs(page, code, monkeypatch):
    if "jird.query(" in code:
        program = os.environ.get("JIRD_TEST_PROGRAM") or pytest.skip("skipped: a program jird with SQL")
        monkeypatch.setenv("JIRD_PROGRAM", program)
    exec(compile(code, page, "exec"), {"__name__": "__main__"})


def test_there_are_examples():
    assert {page for page, _ in EXAMPLES} == set(PAGES)


def test_the_stubs_name_what_there_is():
    import jird

    stub = (pathlib.Path(jird.__file__).parent / "__init__.pyi").read_text()
    named = set(re.findall(r"^(?:def |class )?(\w+)[:(]", stub, re.MULTILINE)) - {"from", "overload", "import"}
    # Classes of what is returned, which have no name in the package.
    named = {name for name in named if not name.startswith("_") or name == "__version__"}
    named -= {"AsyncScan", "ScanIter", "Table"}
    named |= {"JSONDecodeError", "JSONEncodeError", "QueryError"}
    assert set(jird.__all__) == named
    assert all(hasattr(jird, name) for name in named)
    for name, members in re.findall(r"^class (\w+)[^\n]*:\n(.*?)(?=^\S|\Z)", stub, re.MULTILINE | re.DOTALL):
        if hasattr(jird, name):
            for member in re.findall(r"    def (\w+)\(", members):
                assert hasattr(getattr(jird, name), member), (name, member)


def test_the_extra_names_the_version_of_this_package():
    import jird

    project = (ROOT / "crates/jird-python/pyproject.toml").read_text()
    assert f'query = ["jird-query=={jird.__version__}"]' in project
