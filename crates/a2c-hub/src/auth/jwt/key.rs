//! Keys that verify tokens. A key is for one algorithm, whatever the header of a token says.

use std::fmt;

use jsonwebtoken::Algorithm;
use ring::hmac;
use ring::signature::{self, RsaPublicKeyComponents, UnparsedPublicKey};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{SignatureVerificationAlgorithm, SubjectPublicKeyInfoDer};
use webpki::{Error, RawPublicKeyEntity};

/// The shortest secret: as long as the output of the hash, as RFC 7518 demands.
const MIN_SECRET: usize = 32;

/// The shortest encoding of an RSA key of 2048 bits. A longer encoding of a shorter key verifies nothing.
const MIN_RSA: usize = 2048 / 8;

/// The sizes of RSA keys that `ring` verifies with, in bits.
const RSA_BITS: std::ops::RangeInclusive<usize> = 2048..=8192;

/// What precedes the point of a P-256 public key in DER: the algorithm, the curve, and the length of the point.
const P256_DER: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce,
    0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

/// The length of one coordinate of P-256, and of an Ed25519 key.
const COORDINATE: usize = 32;

/// The first byte of a point whose two coordinates follow.
const UNCOMPRESSED: u8 = 4;

/// A key that verifies tokens.
#[derive(Clone)]
pub struct JwtKey {
    material: KeyMaterial,
    /// The name of the key in its set (`kid`).
    id: Option<Box<str>>,
}

#[derive(Clone)]
enum KeyMaterial {
    Secret(hmac::Key),
    /// A key from PEM.
    Encoded(EncodedKey),
    /// The modulus and the exponent of an RSA key.
    Rsa(RsaPublicKeyComponents<Box<[u8]>>),
    Ed25519(UnparsedPublicKey<Box<[u8]>>),
    P256(UnparsedPublicKey<Box<[u8]>>),
}

impl JwtKey {
    /// The secret that the hub shares with the issuer, for HS256.
    ///
    /// # Errors
    /// When the secret is shorter than 32 bytes, or a key in PEM: a public key is no secret.
    pub fn hs256(secret: &[u8]) -> Result<Self, UnusableJwtKey> {
        if secret.trim_ascii_start().starts_with(b"-----BEGIN ") {
            return Err(UnusableJwtKey::PemAsSecret);
        }
        if secret.len() < MIN_SECRET {
            return Err(UnusableJwtKey::ShortSecret { length: secret.len() });
        }
        Ok(Self::from(KeyMaterial::Secret(hmac::Key::new(hmac::HMAC_SHA256, secret))))
    }

    /// The RSA public key of the issuer in PEM, for RS256.
    ///
    /// # Errors
    /// When it is anything else, or shorter than 2048 bits.
    pub fn rs256(pem: &str) -> Result<Self, UnusableJwtKey> {
        let key = EncodedKey::read(pem, "an RSA", Algorithm::RS256, webpki::ring::RSA_PKCS1_2048_8192_SHA256)?;
        if key.der.len() < MIN_RSA {
            return Err(UnusableJwtKey::ShortRsa);
        }
        Ok(Self::from(KeyMaterial::Encoded(key)))
    }

    /// The Ed25519 public key of the issuer in PEM, for EdDSA.
    ///
    /// # Errors
    /// When it is anything else.
    pub fn eddsa(pem: &str) -> Result<Self, UnusableJwtKey> {
        EncodedKey::read(pem, "an Ed25519", Algorithm::EdDSA, webpki::ring::ED25519)
            .map(|key| Self::from(KeyMaterial::Encoded(key)))
    }

    /// The P-256 public key of the issuer in PEM, for ES256.
    ///
    /// # Errors
    /// When it is anything else.
    pub fn es256(pem: &str) -> Result<Self, UnusableJwtKey> {
        let expected = "a P-256";
        // The signature of a token is two numbers side by side; `webpki` knows only their DER.
        let key = EncodedKey::read(pem, expected, Algorithm::ES256, webpki::ring::ECDSA_P256_SHA256)?;
        let point = key.der.strip_prefix(&P256_DER).and_then(p256_point);
        point.map(|point| Self::from(KeyMaterial::P256(point))).ok_or(UnusableJwtKey::OtherKey { expected })
    }

    /// An RSA key for RS256 from its two numbers.
    pub(super) fn rsa_numbers(modulus: &[u8], exponent: &[u8]) -> Result<Self, UnusableJwtKey> {
        let [n, e] = [modulus, exponent].map(without_leading_zeros);
        let bits = n.first().map_or(0, |first| n.len() * 8 - first.leading_zeros() as usize);
        if bits < *RSA_BITS.start() {
            return Err(UnusableJwtKey::ShortRsa);
        }
        if bits > *RSA_BITS.end() || e.len() > 5 || e.last().is_none_or(|last| last % 2 == 0) || e == [1] {
            return Err(UnusableJwtKey::OtherKey { expected: "an RSA" });
        }
        Ok(Self::from(KeyMaterial::Rsa(RsaPublicKeyComponents { n: n.into(), e: e.into() })))
    }

    /// An Ed25519 key for EdDSA from its bytes.
    pub(super) fn ed25519_bytes(x: &[u8]) -> Option<Self> {
        let key = || KeyMaterial::Ed25519(UnparsedPublicKey::new(&signature::ED25519, x.into()));
        (x.len() == COORDINATE).then(|| Self::from(key()))
    }

    /// A P-256 key for ES256 from its coordinates.
    pub(super) fn p256_coordinates(x: &[u8], y: &[u8]) -> Option<Self> {
        if x.len() != COORDINATE || y.len() != COORDINATE {
            return None;
        }
        p256_point(&[&[UNCOMPRESSED], x, y].concat()).map(|point| Self::from(KeyMaterial::P256(point)))
    }

    /// Gives the key its name in a set.
    pub(super) fn named(mut self, id: Option<&str>) -> Self {
        self.id = id.map(Into::into);
        self
    }

    /// The name of the key in its set.
    pub(super) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The algorithm of the key.
    pub(super) fn algorithm(&self) -> Algorithm {
        match &self.material {
            KeyMaterial::Secret(_) => Algorithm::HS256,
            KeyMaterial::Encoded(key) => key.algorithm,
            KeyMaterial::Rsa(_) => Algorithm::RS256,
            KeyMaterial::Ed25519(_) => Algorithm::EdDSA,
            KeyMaterial::P256(_) => Algorithm::ES256,
        }
    }

    /// Whether this key verifies the signature of a message.
    pub(super) fn has_signed(&self, message: &[u8], signature: &[u8]) -> bool {
        match &self.material {
            KeyMaterial::Secret(secret) => hmac::verify(secret, message, signature).is_ok(),
            KeyMaterial::Encoded(key) => key.verify(message, signature).is_ok(),
            KeyMaterial::Rsa(key) => key.verify(&signature::RSA_PKCS1_2048_8192_SHA256, message, signature).is_ok(),
            KeyMaterial::Ed25519(key) | KeyMaterial::P256(key) => key.verify(message, signature).is_ok(),
        }
    }
}

impl From<KeyMaterial> for JwtKey {
    fn from(material: KeyMaterial) -> Self {
        Self { material, id: None }
    }
}

/// A point of P-256 with both coordinates.
fn p256_point(point: &[u8]) -> Option<UnparsedPublicKey<Box<[u8]>>> {
    let is_whole = point.len() == 1 + 2 * COORDINATE && point.first() == Some(&UNCOMPRESSED);
    is_whole.then(|| UnparsedPublicKey::new(&signature::ECDSA_P256_SHA256_FIXED, point.into()))
}

fn without_leading_zeros(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    &number[zeros..]
}

impl fmt::Debug for JwtKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JwtKey({:?}, ***)", self.algorithm())
    }
}

/// A public key in DER, as `webpki` reads it.
#[derive(Clone)]
struct EncodedKey {
    algorithm: Algorithm,
    verifier: &'static dyn SignatureVerificationAlgorithm,
    der: SubjectPublicKeyInfoDer<'static>,
}

impl EncodedKey {
    /// Reads a public key of the kind that the algorithm needs.
    fn read(
        pem: &str,
        expected: &'static str,
        algorithm: Algorithm,
        verifier: &'static dyn SignatureVerificationAlgorithm,
    ) -> Result<Self, UnusableJwtKey> {
        if pem.contains("PRIVATE KEY-----") {
            return Err(UnusableJwtKey::Private { expected });
        }
        let der = SubjectPublicKeyInfoDer::from_pem_slice(pem.as_bytes());
        let key = Self { algorithm, verifier, der: der.map_err(|_| UnusableJwtKey::NotPem { expected })? };
        // An empty signature is never valid; a key of the right kind reports that and no other error.
        match key.verify(b"", b"") {
            Err(Error::InvalidSignatureForPublicKey) => Ok(key),
            _ => Err(UnusableJwtKey::OtherKey { expected }),
        }
    }

    fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), Error> {
        RawPublicKeyEntity::try_from(&self.der)?.verify_signature(self.verifier, message, signature)
    }
}

/// Why a text cannot be a key that verifies tokens.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnusableJwtKey {
    /// The secret is short enough to be guessed.
    #[error(
        "the secret for HS256 is {length} bytes long: take at least {MIN_SECRET} random ones (openssl rand -hex 32)"
    )]
    ShortSecret {
        /// Its length in bytes.
        length: usize,
    },
    /// The secret is a key of another algorithm: a client that knows the public key could sign tokens with it.
    #[error("the secret for HS256 is a key in PEM: use it with the algorithm it was made for, RS256, EdDSA or ES256")]
    PemAsSecret,
    /// The text is no public key in PEM.
    #[error("not a public key in PEM: expected {expected} key that starts with -----BEGIN PUBLIC KEY-----")]
    NotPem {
        /// Which kind of key.
        expected: &'static str,
    },
    /// The text is a private key, which the hub must not have.
    #[error("this is a private key: give the hub {expected} public key only (openssl pkey -in FILE -pubout)")]
    Private {
        /// Which kind of key.
        expected: &'static str,
    },
    /// The public key is of another kind.
    #[error("this public key is of another kind: expected {expected} key")]
    OtherKey {
        /// Which kind of key.
        expected: &'static str,
    },
    /// The RSA key is too short to be safe.
    #[error("the RSA key is too short: take one of at least 2048 bits")]
    ShortRsa,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pem(algorithm: &'static rcgen::SignatureAlgorithm) -> (String, String) {
        let pair = rcgen::KeyPair::generate_for(algorithm).unwrap();
        (pair.public_key_pem(), pair.serialize_pem())
    }

    /// Of 1024 bits: too short for anything but this test.
    const SHORT_RSA: &str = "-----BEGIN PUBLIC KEY-----
MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDcpuzgBqYw+pJXXJCOsX6p57c8
n6ehrfE09qqmG+aN2sS/DB9bLEJ/wmJdEfRGYNCTQjO2xfVhHTrUPhFOBpejCDTp
aLcQC0+WKczTX1IM4VLg1kMk6iRPgUEGknT/eX/7nxrWBbu/PcbXuQPm9scSrHDH
uQ+f3JPnjId4xuY0VwIDAQAB
-----END PUBLIC KEY-----
";

    #[test]
    fn what_cannot_be_a_key_is_refused_with_what_was_expected() {
        let not_pem = |expected| UnusableJwtKey::NotPem { expected };
        let other = |expected| UnusableJwtKey::OtherKey { expected };
        let private = |expected| UnusableJwtKey::Private { expected };
        let (ed, ed_private) = pem(&rcgen::PKCS_ED25519);
        let (ec, ec_private) = pem(&rcgen::PKCS_ECDSA_P256_SHA256);
        let no_key = "-----BEGIN PUBLIC KEY-----\naGVsbG8=\n-----END PUBLIC KEY-----\n";
        let (rsa_word, ed_word) = ("an RSA", "an Ed25519");
        for (text, by_rs256, by_eddsa) in [
            ("", not_pem(rsa_word), Some(not_pem(ed_word))),
            (&ed.replace("-----END", ""), not_pem(rsa_word), Some(not_pem(ed_word))),
            (&ed.replace("PUBLIC KEY", "CERTIFICATE"), not_pem(rsa_word), Some(not_pem(ed_word))),
            (no_key, other(rsa_word), Some(other(ed_word))),
            (&ed, other(rsa_word), None),
            (&ec, other(rsa_word), Some(other(ed_word))),
            (&ed_private, private(rsa_word), Some(private(ed_word))),
            (&ec_private, private(rsa_word), Some(private(ed_word))),
            (SHORT_RSA, UnusableJwtKey::ShortRsa, Some(other(ed_word))),
        ] {
            assert_eq!(JwtKey::rs256(text).err(), Some(by_rs256), "{text}");
            assert_eq!(JwtKey::eddsa(text).err(), by_eddsa, "{text}");
        }
    }

    #[test]
    fn only_a_key_on_p256_is_one_for_es256() {
        let expected = "a P-256";
        let (ec, ec_private) = pem(&rcgen::PKCS_ECDSA_P256_SHA256);
        assert_eq!(JwtKey::es256(&ec).unwrap().algorithm(), Algorithm::ES256);
        for (text, refused) in [
            ("", UnusableJwtKey::NotPem { expected }),
            (&ec_private, UnusableJwtKey::Private { expected }),
            (&pem(&rcgen::PKCS_ECDSA_P384_SHA384).0, UnusableJwtKey::OtherKey { expected }),
            (&pem(&rcgen::PKCS_ED25519).0, UnusableJwtKey::OtherKey { expected }),
            (SHORT_RSA, UnusableJwtKey::OtherKey { expected }),
        ] {
            assert_eq!(JwtKey::es256(text).err(), Some(refused), "{text}");
        }
    }

    #[test]
    fn the_numbers_of_an_rsa_key_have_a_size() {
        let numbers = |bytes: usize, first: u8, e: &[u8]| {
            let mut n = vec![0xff; bytes];
            n[0] = first;
            JwtKey::rsa_numbers(&n, e).err()
        };
        let other = Some(UnusableJwtKey::OtherKey { expected: "an RSA" });
        assert_eq!(numbers(256, 0x80, &[1, 0, 1]), None);
        assert_eq!(numbers(257, 0, &[0, 1, 0, 1]), None, "zeros in front change no number");
        assert_eq!(numbers(1024, 0xff, &[3]), None);
        assert_eq!(numbers(256, 0x7f, &[1, 0, 1]), Some(UnusableJwtKey::ShortRsa));
        assert_eq!(numbers(256, 0, &[1, 0, 1]), Some(UnusableJwtKey::ShortRsa));
        assert_eq!(numbers(1025, 1, &[1, 0, 1]), other);
        for e in [&[][..], &[0], &[1], &[2], &[1, 0, 0, 0, 0, 1]] {
            assert_eq!(numbers(256, 0xff, e), other, "{e:?}");
        }
    }

    #[test]
    fn a_secret_is_long_and_a_secret() {
        assert!(JwtKey::hs256(&[7; 32]).is_ok());
        assert_eq!(JwtKey::hs256(&[7; 31]).err(), Some(UnusableJwtKey::ShortSecret { length: 31 }));
        assert_eq!(JwtKey::hs256(b"").err(), Some(UnusableJwtKey::ShortSecret { length: 0 }));
        let (public, private) = pem(&rcgen::PKCS_ED25519);
        for text in [public.clone(), private, format!("\n{public}")] {
            assert_eq!(JwtKey::hs256(text.as_bytes()).err(), Some(UnusableJwtKey::PemAsSecret));
        }
    }

    #[test]
    fn a_key_is_not_shown() {
        let secret = JwtKey::hs256(b"a secret of at least 32 characters").unwrap();
        assert_eq!(format!("{secret:?}"), "JwtKey(HS256, ***)");
        let public = JwtKey::eddsa(&pem(&rcgen::PKCS_ED25519).0).unwrap();
        assert_eq!(format!("{public:?}"), "JwtKey(EdDSA, ***)");
    }
}
