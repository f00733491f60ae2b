"""What users may choose."""

import dataclasses
import json
import re

_UNITS = {"": 1, "b": 1, "k": 1 << 10, "kb": 1 << 10, "m": 1 << 20, "mb": 1 << 20, "g": 1 << 30, "gb": 1 << 30}

_NAMES = [
    "path",
    "paths",
    "where",
    "mode",
    "quarantine",
    "splitBytes",
    "asJson",
    "strictText",
    "pushFilters",
    "timeZone",
    "maxFilesPerTrigger",
    "maxBytesPerTrigger",
    "compression",
]


@dataclasses.dataclass(frozen=True)
class Options:
    """The options of a source, checked."""

    paths: tuple
    """Paths, patterns, folders and URLs."""
    where: str | None
    """A condition as of `jird.scan`."""
    skips_bad: bool
    quarantine: str | None
    """A folder for bad records."""
    split_bytes: int | None
    as_json: frozenset
    """The columns that have the JSON texts of their values."""
    strict_text: bool
    """Whether columns of texts refuse values of other kinds."""
    pushes_filters: bool
    """Whether filters of Spark become conditions of the scan."""
    time_zone: str | None
    """That of times without one."""
    files_max: int | None
    bytes_max: int | None
    """How much a stream takes at a time."""
    compression: str

    @classmethod
    def of(cls, given):
        """Checks the options of Spark, whose names may be in capitals or not."""
        known = {name.lower(): name for name in _NAMES}
        values = {}
        for name, value in given.items():
            if name.lower() not in known:
                raise ValueError(f"there is no option {name!r}; the options are {', '.join(_NAMES)}")
            values[known[name.lower()]] = value
        paths = json.loads(values["paths"]) if "paths" in values else []
        paths += [values["path"]] if "path" in values else []
        if not paths:
            raise ValueError("no path is given: load(path), or the option path")
        mode = values.get("mode", "failFast").lower()
        if mode not in ("failfast", "skip", "dropmalformed"):
            raise ValueError(f"mode is failFast, or skip (dropMalformed), not {values['mode']!r}")
        if "quarantine" in values and "mode" not in values:
            mode = "skip"
        if "quarantine" in values and mode == "failfast":
            raise ValueError("the mode failFast sets no record aside; leave out the option mode, or quarantine")
        compression = values.get("compression", "none").lower()
        if compression not in ("none", "uncompressed", "gzip", "zstd"):
            raise ValueError(f"compression is none, gzip or zstd, not {values['compression']!r}")
        if "timeZone" in values:
            import zoneinfo

            try:
                zoneinfo.ZoneInfo(values["timeZone"])
            except (ValueError, zoneinfo.ZoneInfoNotFoundError):
                raise ValueError(f"timeZone: there is no time zone {values['timeZone']!r}") from None
        return cls(
            paths=tuple(paths),
            where=values.get("where"),
            skips_bad=mode != "failfast",
            quarantine=values.get("quarantine"),
            split_bytes=_bytes(values, "splitBytes"),
            as_json=frozenset(name.strip() for name in values.get("asJson", "").split(",") if name.strip()),
            strict_text=_flag(values, "strictText"),
            pushes_filters=_flag(values, "pushFilters"),
            time_zone=values.get("timeZone"),
            files_max=_number(values, "maxFilesPerTrigger"),
            bytes_max=_bytes(values, "maxBytesPerTrigger"),
            compression="none" if compression == "uncompressed" else compression,
        )


def _flag(values, name):
    value = values.get(name, "false").lower()
    if value not in ("true", "false"):
        raise ValueError(f"{name} is true or false, not {values[name]!r}")
    return value == "true"


def _number(values, name):
    value = values.get(name)
    if value is None:
        return None
    if not re.fullmatch("[1-9][0-9]*", value):
        raise ValueError(f"{name} is a number from one on, not {value!r}")
    return int(value)


def _bytes(values, name):
    value = values.get(name)
    if value is None:
        return None
    found = re.fullmatch("([1-9][0-9]*) *([a-z]*)", value.lower())
    if not found or found[2] not in _UNITS:
        raise ValueError(f"{name} is a number of bytes such as 134217728 or 128m, not {value!r}")
    return int(found[1]) * _UNITS[found[2]]
