"""Sign packages with keys of one's own: a certifier's root, and a publisher that it certifies.

Both are ML-DSA-87 of the FAST profile; whoever runs the plugin pins the root and says FAST of it.
"""

import io
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from agentic_os.crypto.canonical.json import encode
from agentic_os.crypto.canonical.reader import decode
from agentic_os.crypto.envelope.public_keys import (
    ENVELOPE_BYTES,
    PublicKeyEnvelope,
    make_named_envelope,
    read_public_key_envelope,
)
from agentic_os.crypto.envelope.signed import read_envelope, seal
from agentic_os.crypto.keys.files import read_key, write_key
from agentic_os.crypto.keys.pairs import ML_DSA_87, SigningKey, generate_key
from agentic_os.files.publishing import private_folder, publish
from agentic_os.plugins.codes import ERRORS
from agentic_os.plugins.package.contents import members_of
from agentic_os.plugins.package.layout import (
    PUBLISHER_CERTIFICATE,
    PUBLISHER_SIGNATURE,
    SIGNATURES,
)
from agentic_os.plugins.package.packing import Packed, write_package
from agentic_os.plugins.trust import objects
from agentic_os.plugins.trust.objects import RevocationStatus, Revoked
from agentic_os.plugins.trust.release import CheckedPackage, check_artifacts, check_package

STATUS_NAME: Final = objects.STATUS_FILES[objects.CERTIFIER]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnKey:
    """A private key with its public envelope."""

    key: SigningKey
    envelope: PublicKeyEnvelope

    def sign(self, kind: str, payload: dict[str, Any]) -> bytes:
        """Sign a payload and return the trust object."""
        return encode(seal(kind, payload, key=self.key, envelope=self.envelope).to_json())


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnKeys:
    """The keys of somebody who publishes plugins."""

    folder: Path
    certifier: OwnKey
    publisher: OwnKey

    @property
    def status_path(self) -> Path:
        """Where the root's own revocation status stands."""
        return self.folder / STATUS_NAME


def own_keys(folder: Path, *, password: str | None) -> OwnKeys:
    """Open the keys of a folder, making them, and an empty status, the first time.

    Raises:
        CryptoError: a key cannot be read, or needs a password.
        FilesError: the folder cannot be written.
    """
    private_folder(folder)
    keys = OwnKeys(
        folder=folder,
        certifier=_own_key(folder, "certifier", objects.CERTIFIER, password),
        publisher=_own_key(folder, "publisher", objects.PUBLISHER, password),
    )
    if not keys.status_path.exists():
        _write_status(keys, 1, ())
    return keys


def sign_package(data: bytes, keys: OwnKeys, *, publisher: str) -> bytes:
    """Return a package with the certificate and signature of its publisher.

    Raises:
        PackageRefusedError: it is no whole package, or has trust objects already.
    """
    checked = check_package(io.BytesIO(data))
    check_artifacts(checked)
    if checked.package.trust:
        raise ERRORS.error("PLUGIN_TRUST_OBJECT_SHAPE_INVALID", "it is signed already")
    trust = {
        PUBLISHER_CERTIFICATE: keys.certifier.sign(
            objects.CERTIFICATE_KIND,
            {
                "publisher_id": publisher,
                "publisher_key": decode(keys.publisher.envelope.document),
            },
        ),
        PUBLISHER_SIGNATURE: keys.publisher.sign(
            objects.RELEASE_KIND,
            {
                "package_hash": checked.quartet.package_hash,
                "manifest_hash": checked.quartet.manifest_hash,
            },
        ),
    }
    return _with_trust(data, checked, trust)


def revoke(keys: OwnKeys, data: bytes) -> RevocationStatus:
    """Revoke the trust objects of a package that these keys signed; return the new status.

    Raises:
        PackageRefusedError: it is no package, or unsigned.
        CryptoError: a trust object is no envelope.
    """
    package = check_package(io.BytesIO(data)).package
    if PUBLISHER_SIGNATURE not in package.trust:
        raise ERRORS.error("PLUGIN_TRUST_OBJECT_SHAPE_INVALID", "it is unsigned")
    gone = Revoked(
        artifact_kind=objects.RELEASE_KIND,
        payload_sha256=read_envelope(package.trust[PUBLISHER_SIGNATURE]).payload_sha256,
    )
    _, status = objects.opened(
        keys.status_path.read_bytes(),
        objects.REVOCATION_KIND,
        RevocationStatus,
        key=keys.certifier.envelope,
        at=datetime.now(UTC),
    )
    revoked = tuple(sorted({*status.revoked, gone}))
    return _write_status(keys, status.trust_epoch + 1, revoked)


def _write_status(keys: OwnKeys, epoch: int, revoked: tuple[Revoked, ...]) -> RevocationStatus:
    payload = {
        "schema_version": 1,
        "trust_epoch": epoch,
        "revoked": [
            {"artifact_kind": one.artifact_kind, "payload_sha256": one.payload_sha256}
            for one in revoked
        ],
    }
    publish(keys.status_path, keys.certifier.sign(objects.REVOCATION_KIND, payload))
    return RevocationStatus(schema_version=1, trust_epoch=epoch, revoked=revoked)


def _own_key(folder: Path, name: str, key_type: str, password: str | None) -> OwnKey:
    path, public = folder / f"{name}.pem", folder / f"{name}.public.json"
    if not path.exists():
        key = generate_key(ML_DSA_87)
        envelope = make_named_envelope(key.public, key_type=key_type, created_at=datetime.now(UTC))
        # The public half first: a key whose envelope is lost could sign nothing.
        publish(public, envelope.document)
        write_key(path, key, password=password)
    key = read_key(path, password=password)
    with public.open("rb") as file:
        envelope = read_public_key_envelope(file.read(ENVELOPE_BYTES + 1))
    return OwnKey(key=key, envelope=envelope)


def _with_trust(data: bytes, checked: CheckedPackage, trust: dict[str, bytes]) -> bytes:
    files = {
        relative: Packed(data=b"".join(contents), is_executable=member.executable)
        for relative, member, contents in members_of(io.BytesIO(data))
        if not member.is_folder
    }
    files |= {f"{SIGNATURES}/{name}": Packed(data=one) for name, one in trust.items()}
    sink = io.BytesIO()
    write_package(checked.package.top, files, sink.write)
    return sink.getvalue()
