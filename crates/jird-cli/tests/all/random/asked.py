"""What jird says when it is asked."""

import pathlib
import subprocess

PATIENCE = 60
HERE = pathlib.Path(__file__).parent
INSIDE = (HERE / '../../../../jird-query/tests/queries/suite/inside.txt').read_text().splitlines()


class Asked:
    """What jird said to a query."""

    def __init__(self, program, sql, arguments, given=None):
        command = [program, 'query', sql, *arguments]
        try:
            ended = subprocess.run(command, input=given or b'', capture_output=True, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.out, self.said, self.code = b'', 'no answer', -1
        else:
            self.out, self.said, self.code = ended.stdout, ended.stderr.decode(), ended.returncode
        self.message = self.said.removeprefix('jird: ').strip()

    def fault(self, sql):
        """What no query may do, whatever it is."""
        if self.code not in (0, 1, 2) or 'panicked' in self.said:
            return f'exit code {self.code}'
        return next((f'`{word}`' for word in INSIDE if word in self.said and word not in sql), None)


def run(*command, given=None):
    """A command that has to succeed."""
    ended = subprocess.run(command, input=given, capture_output=True)
    if ended.returncode != 0:
        raise SystemExit(f'{command}: {ended.stderr.decode()}')
