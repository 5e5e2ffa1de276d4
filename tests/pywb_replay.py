"""Replays pages of a crawl: a script for the Python of an environment that has pywb.

The arguments are the index and the folder of the archive. Each input line is a path to request from pywb; each output
line is the response as JSON: status, headers, and the body in base64.
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
    # pywb prints warnings, such as a missing configuration file.
    with redirect_stdout(sys.stderr):
        client = Client(FrontEndApp(custom_config={"collections": {"crawl": collection}}), Response)
    for path in sys.stdin.read().splitlines():
        # Without this header pywb removes the content coding.
        response = client.get(path, headers={"Accept-Encoding": "gzip, br"})
        body = base64.b64encode(response.data).decode()
        print(json.dumps({"status": response.status_code, "headers": dict(response.headers), "body": body}))


if __name__ == "__main__":
    main()
