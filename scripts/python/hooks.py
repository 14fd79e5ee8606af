"""Each request comes from another address: too many without a valid key from one are answered 429, not 401."""

from random import getrandbits

import requests

send = requests.Session.send


def send_from_anywhere(session, request, **options):
    address = f"10.{getrandbits(8)}.{getrandbits(8)}.{getrandbits(8)}"
    request.headers["X-Forwarded-For"] = address
    return send(session, request, **options)


requests.Session.send = send_from_anywhere
