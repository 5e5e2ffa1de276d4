"""Certificates, good and bad, for the hosts of the hostile site, made with the openssl command."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

_CONFIG = """\
[ca]
default_ca = here
[here]
dir = .
database = index.txt
serial = serial
new_certs_dir = .
default_md = sha256
policy = any
unique_subject = no
copy_extensions = copy
[any]
commonName = supplied
"""
_VALID = ("20200101000000Z", "20991231235959Z")
_EXPIRED = ("20200101000000Z", "20200102000000Z")


@dataclass(frozen=True, slots=True)
class Certificates:
    """PEM files: the certificate authority, and a certificate with its key of each kind."""

    authority: Path
    good: Path
    self_signed: Path
    expired: Path
    other_host: Path


def has_openssl() -> bool:
    return shutil.which("openssl") is not None


def make_certificates(folder: Path, host: str) -> Certificates:
    """Make an authority and one certificate of each kind in an empty folder."""
    (folder / "ca.cnf").write_text(_CONFIG)
    (folder / "index.txt").write_text("")
    (folder / "serial").write_text("1000\n")
    authority = _self_signed(folder, "authority", "Hostile Test Authority", "basicConstraints=critical,CA:TRUE")
    return Certificates(
        authority=authority,
        good=_signed(folder, "good", host, _VALID),
        self_signed=_self_signed(folder, "self-signed", host, f"subjectAltName=DNS:{host}"),
        expired=_signed(folder, "expired", host, _EXPIRED),
        other_host=_signed(folder, "other-host", "other.test", _VALID),
    )


def _self_signed(folder: Path, name: str, subject: str, extension: str) -> Path:
    _openssl(folder, "req", "-x509", *_new_key(name), "-out", f"{name}.crt", "-days", "3650",
             "-subj", f"/CN={subject}", "-addext", extension)  # fmt: skip
    return _with_key(folder, name)


def _signed(folder: Path, name: str, host: str, dates: tuple[str, str]) -> Path:
    _openssl(folder, "req", *_new_key(name), "-out", f"{name}.csr", "-subj", f"/CN={host}",
             "-addext", f"subjectAltName=DNS:{host}")  # fmt: skip
    _openssl(folder, "ca", "-batch", "-notext", "-config", "ca.cnf", "-cert", "authority.crt", "-keyfile",
             "authority.key", "-in", f"{name}.csr", "-out", f"{name}.crt", "-startdate", dates[0],
             "-enddate", dates[1])  # fmt: skip
    return _with_key(folder, name)


def _new_key(name: str) -> list[str]:
    return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", f"{name}.key"]


def _with_key(folder: Path, name: str) -> Path:
    both = folder / f"{name}.pem"
    both.write_bytes((folder / f"{name}.crt").read_bytes() + (folder / f"{name}.key").read_bytes())
    return both


def _openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)
