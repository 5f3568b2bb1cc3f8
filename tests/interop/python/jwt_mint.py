"""Mints tokens with PyJWT for the tests of the hub.

Reads {"claims": {...}, "secret": "..."} from standard input and prints, for each algorithm, the token, what verifies
it, and a key of the same kind that does not.
"""

import json
import sys

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat


def pem(private):
    spki = private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return spki.decode()


def pair(algorithm, make):
    right, wrong = make(), make()
    return {"token": jwt.encode(claims, right, algorithm=algorithm), "key": pem(right), "other": pem(wrong)}


order = json.load(sys.stdin)
claims, secret = order["claims"], order["secret"]
rsa = pair("RS256", lambda: generate_private_key(65537, 2048))
print(json.dumps({
    "HS256": {"token": jwt.encode(claims, secret, algorithm="HS256"), "key": secret, "other": secret[::-1]},
    "RS256": rsa,
    "EdDSA": pair("EdDSA", Ed25519PrivateKey.generate),
    "none": {"token": jwt.encode(claims, None, algorithm="none")},
    "HS512": {"token": jwt.encode(claims, secret * 2, algorithm="HS512")},
}))
