"""Does a thousand slow clients slow a fast one down?

    python slow.py RATES [--rounds N]        prints a line a round, and the medians

RATES is `target/release/examples/rates`. Nine hundred clients send a byte of a request's head every second, and a
hundred have asked for an answer of some megabytes and take 4 KiB of it every second. `wrk` with eight connections is
the fast one: with and without them, in turns, with every answer a 200.
"""

import argparse
import socket
import statistics
import threading
import time

from rates import rate, start

ROWS = 100_000


class Slow:
    """The slow clients, on a thread of their own."""

    def __init__(self, address):
        host, port = address.removeprefix('http://').split(':')
        self.over = threading.Event()
        self.sockets = []
        for number in range(1000):
            client = socket.create_connection((host, int(port)))
            head = f'GET /tasks HTTP/1.1\r\nHost: {host}:{port}\r\nX-Slow: '.encode()
            # Answers that stream have 64 places; those beyond are told to come later.
            takes = number >= 900
            client.sendall(head + b'\r\n\r\n' if takes else head)
            client.setblocking(False)
            self.sockets.append((client, takes))
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.over.wait(1):
            for client, takes in self.sockets:
                try:
                    if takes:
                        client.recv(4096)
                    else:
                        client.send(b'x')
                except OSError:
                    pass

    def end(self):
        self.over.set()
        self.thread.join()
        for client, _ in self.sockets:
            client.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('rates')
    parser.add_argument('--rounds', type=int, default=5)
    arguments = parser.parse_args()
    addresses = {}
    child = start(arguments.rates, ROWS, 'list', addresses)
    url = f'{addresses["rows"]}/tasks/7'
    found = {'alone': [], 'beside': []}
    for _ in range(arguments.rounds):
        found['alone'].append(rate(url, ('-c8', '-t1'), 2))
        slow = Slow(addresses['rows'])
        time.sleep(1)
        found['beside'].append(rate(url, ('-c8', '-t1'), 2))
        slow.end()
        time.sleep(0.5)
        print(*(f'{rates[-1]:,.0f}' for rates in found.values()), flush=True)
    alone, beside = (statistics.median(rates) for rates in found.values())
    print(f'alone {alone:,.0f}, beside a thousand slow clients {beside:,.0f} requests/s: {beside / alone:.2f}')
    child.stdin.close()
    child.wait()


if __name__ == '__main__':
    main()
