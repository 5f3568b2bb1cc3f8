//! Keys that verify tokens. A key is for one algorithm, whatever the header of a token says.

use std::fmt;

use jsonwebtoken::Algorithm;
use ring::hmac;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{SignatureVerificationAlgorithm, SubjectPublicKeyInfoDer};
use webpki::{Error, RawPublicKeyEntity};

/// The shortest secret: as long as the output of the hash, as RFC 7518 demands.
const MIN_SECRET: usize = 32;

/// The shortest encoding of an RSA key of 2048 bits. A longer encoding of a shorter key verifies nothing.
const MIN_RSA: usize = 2048 / 8;

/// A key that verifies tokens.
#[derive(Clone)]
pub struct JwtKey(KeyMaterial);

#[derive(Clone)]
enum KeyMaterial {
    Secret(hmac::Key),
    Public(PublicKey),
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
        Ok(Self(KeyMaterial::Secret(hmac::Key::new(hmac::HMAC_SHA256, secret))))
    }

    /// The RSA public key of the issuer in PEM, for RS256.
    ///
    /// # Errors
    /// When it is anything else, or shorter than 2048 bits.
    pub fn rs256(pem: &str) -> Result<Self, UnusableJwtKey> {
        let key = PublicKey::read(pem, "an RSA", Algorithm::RS256, webpki::ring::RSA_PKCS1_2048_8192_SHA256)?;
        if key.der.len() < MIN_RSA {
            return Err(UnusableJwtKey::ShortRsa);
        }
        Ok(Self(KeyMaterial::Public(key)))
    }

    /// The Ed25519 public key of the issuer in PEM, for EdDSA.
    ///
    /// # Errors
    /// When it is anything else.
    pub fn eddsa(pem: &str) -> Result<Self, UnusableJwtKey> {
        PublicKey::read(pem, "an Ed25519", Algorithm::EdDSA, webpki::ring::ED25519)
            .map(|key| Self(KeyMaterial::Public(key)))
    }

    /// The algorithm of the key.
    pub(super) fn algorithm(&self) -> Algorithm {
        match &self.0 {
            KeyMaterial::Secret(_) => Algorithm::HS256,
            KeyMaterial::Public(key) => key.algorithm,
        }
    }

    /// Whether this key verifies the signature of a message.
    pub(super) fn has_signed(&self, message: &[u8], signature: &[u8]) -> bool {
        match &self.0 {
            KeyMaterial::Secret(secret) => hmac::verify(secret, message, signature).is_ok(),
            KeyMaterial::Public(key) => key.verify(message, signature).is_ok(),
        }
    }
}

impl fmt::Debug for JwtKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JwtKey({:?}, ***)", self.algorithm())
    }
}

#[derive(Clone)]
struct PublicKey {
    algorithm: Algorithm,
    verifier: &'static dyn SignatureVerificationAlgorithm,
    der: SubjectPublicKeyInfoDer<'static>,
}

impl PublicKey {
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
    #[error("the secret for HS256 is a key in PEM: use it with the algorithm it was made for, RS256 or EdDSA")]
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
