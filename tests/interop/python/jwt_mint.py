"""Mints tokens with PyJWT for the tests of the hub.

Reads {"claims": {...}, "secret": "..."} from standard input and prints, for each algorithm, the token, what verifies
it, and a key of the same kind that does not. For public keys it also prints both as an issuer publishes them, each with
a token that names it.
"""

import json
import sys

import jwt
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1
from cryptography.hazmat.primitives.asymmetric.ec import generate_private_key as generate_ec_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat


def pem(private):
    spki = private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return spki.decode()


def published(algorithm, private, kid):
    public = jwt.get_algorithm_by_name(algorithm).to_jwk(private.public_key(), as_dict=True)
    token = jwt.encode(claims, private, algorithm=algorithm, headers={"kid": kid})
    return {"jwk": {**public, "kid": kid, "use": "sig", "alg": algorithm}, "token": token}


def pair(algorithm, make):
    right, wrong = make(), make()
    return {
        "token": jwt.encode(claims, right, algorithm=algorithm),
        "key": pem(right),
        "other": pem(wrong),
        "published": [published(algorithm, key, f"{algorithm}-{n}") for n, key in enumerate((right, wrong), 1)],
    }


order = json.load(sys.stdin)
claims, secret = order["claims"], order["secret"]
rsa = pair("RS256", lambda: generate_private_key(65537, 2048))
print(json.dumps({
    "HS256": {"token": jwt.encode(claims, secret, algorithm="HS256"), "key": secret, "other": secret[::-1]},
    "RS256": rsa,
    "EdDSA": pair("EdDSA", Ed25519PrivateKey.generate),
    "ES256": pair("ES256", lambda: generate_ec_key(SECP256R1())),
    "none": {"token": jwt.encode(claims, None, algorithm="none")},
    "HS512": {"token": jwt.encode(claims, secret * 2, algorithm="HS512")},
}))
