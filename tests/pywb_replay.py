"""Replays pages of a crawl: run as a script by the Python of an environment that has pywb.

The first argument is the index, the second the folder of the archive; each line of the input is a path to ask pywb for,
and each line of the output the answer to it as JSON: status, headers, and the body in base64.
"""

import base64
import json
import sys
from contextlib import redirect_stdout

from pywb.apps.frontendapp import FrontEndApp
from werkzeug.test import Client
from werkzeug.wrappers import Response


def main() -> None:
    index, archive = sys.argv[1:]
    collection = {"index_paths": index, "archive_paths": archive}
    # pywb prints what it lacks, a configuration file for one.
    with redirect_stdout(sys.stderr):
        client = Client(FrontEndApp(custom_config={"collections": {"crawl": collection}}), Response)
    for path in sys.stdin.read().splitlines():
        # To who takes no content coding pywb sends pages without one.
        answer = client.get(path, headers={"Accept-Encoding": "gzip, br"})
        body = base64.b64encode(answer.data).decode()
        print(json.dumps({"status": answer.status_code, "headers": dict(answer.headers), "body": body}))


if __name__ == "__main__":
    main()
