"""Names and addresses of the hosts of a scenario, as programs ask for them: `getaddrinfo`, `getnameinfo`, `gethostname` ...

Results and errors are those of glibc. A host has one IPv4 and one IPv6 address; the IPv4 address comes first.
"""

from __future__ import annotations

import socket
from typing import Any

from elephan.base.errors import nearest
from elephan.virtual.host import Host

Address = tuple[Any, ...]
Info = tuple[Any, Any, int, str, Address]

_INET, _INET6 = socket.AF_INET, socket.AF_INET6
_LOCAL = ("localhost", "ip6-localhost", "ip6-loopback", "localhost.localdomain")
# Numbers and texts of glibc's <netdb.h>.
_NONAME, _FAMILY, _SOCKTYPE, _SERVICE, _ADDRFAMILY = (
    (-2, "Name or service not known"),
    (-6, "ai_family not supported"),
    (-7, "ai_socktype not supported"),
    (-8, "Servname not supported for ai_socktype"),
    (-9, "Address family for hostname not supported"),
)
_SERVICES = {"domain": 53, "http": 80, "https": 443, "imap": 143, "ntp": 123, "pop3": 110, "smtp": 25, "ssh": 22}
_KINDS = ((socket.SOCK_STREAM, socket.IPPROTO_TCP), (socket.SOCK_DGRAM, socket.IPPROTO_UDP), (socket.SOCK_RAW, 0))


def family_of(text: str) -> int:
    """Returns the family of an address that is written in numbers; 0 for what is none."""
    for family in (_INET, _INET6):
        try:
            socket.inet_pton(family, text.partition("%")[0])
            return family
        except (OSError, ValueError):
            continue
    return 0


def canonical(text: str) -> str:
    """Returns an address as the system writes it: in small letters and short."""
    family = family_of(text)
    return socket.inet_ntop(family, socket.inet_pton(family, text.partition("%")[0])) if family else text


def _unknown(host: Host, name: str) -> socket.gaierror:
    error = socket.gaierror(*_NONAME)
    known = [one.label for one in host.network.hosts]
    error.add_note(f'the scenario has no host "{name}"{nearest(name, known, "it has")}')
    return error


def addresses(host: Host, name: str, family: int = 0) -> list[str]:
    """Returns the addresses of a name as `host` knows it, IPv4 first. Raises `socket.gaierror`."""
    numeric = family_of(name)
    if numeric:
        if family and family != numeric:
            raise socket.gaierror(*_ADDRFAMILY)
        return [canonical(name)]
    plain = name.rstrip(".").lower()
    if plain in _LOCAL:
        both = ["127.0.0.1", "::1"]
    else:
        found = host.network.by_name.get(plain)
        if found is None:
            raise _unknown(host, name)
        both = [found.ipv4, found.ipv6]
    return [one for one in both if family in (0, family_of(one))]


def _port_of(port: Any, kind: int) -> int:
    if port in (None, "", b""):
        return 0
    if isinstance(port, bytes):
        port = port.decode()
    if isinstance(port, int) or str(port).isdigit():
        return int(port)
    if port in _SERVICES:
        return _SERVICES[port]
    try:
        return socket.getservbyname(port, "udp" if kind == socket.SOCK_DGRAM else "tcp")
    except OSError:
        raise socket.gaierror(*_SERVICE) from None


def getaddrinfo(host: Host, name: Any, port: Any, family: int = 0, type: int = 0, proto: int = 0, flags: int = 0) -> list[Info]:
    """Returns what `socket.getaddrinfo` returns on `host`."""
    if name is None and port is None:
        raise socket.gaierror(*_NONAME)
    if family not in (0, _INET, _INET6):
        raise socket.gaierror(*_FAMILY)
    kinds = [(kind, number) for kind, number in _KINDS if type in (0, kind) and (proto in (0, number) or not number)]
    if not kinds:
        raise socket.gaierror(*_SOCKTYPE)
    if isinstance(name, bytes):
        name = name.decode("idna")
    number = _port_of(port, type)
    if not name:
        passive = bool(flags & socket.AI_PASSIVE)
        both = ["0.0.0.0", "::"] if passive else ["127.0.0.1", "::1"]
        found = [one for one in both if family in (0, family_of(one))]
    else:
        if flags & socket.AI_NUMERICHOST and not family_of(name):
            raise socket.gaierror(*_NONAME)
        found = addresses(host, name, family)
    infos: list[Info] = []
    for text in found:
        own = socket.AddressFamily(family_of(text))
        address: Address = (text, number) if own == _INET else (text, number, 0, 0)
        for kind, protocol in kinds:
            title = str(name) if flags & socket.AI_CANONNAME and not infos else ""
            infos.append((own, socket.SocketKind(kind), protocol or proto, title, address))
    return infos


def owner(host: Host, text: str) -> Host | None:
    """Returns the host that has an address, seen from `host`; None if nobody has it."""
    if text.startswith("127.") or text in ("::1", "0.0.0.0", "::"):
        return host
    return host.network.by_address.get(text)


def getnameinfo(host: Host, address: Address, flags: int = 0) -> tuple[str, str]:
    """Returns what `socket.getnameinfo` returns on `host`."""
    text, port = canonical(str(address[0])), int(address[1])
    if not family_of(text):
        raise socket.gaierror(*_NONAME)
    found = owner(host, text)
    name = text
    if not flags & socket.NI_NUMERICHOST and found is not None:
        name = "localhost" if found is host and text in ("127.0.0.1", "::1") else found.label
    elif flags & socket.NI_NAMEREQD:
        raise socket.gaierror(*_NONAME)
    services = {number: service for service, number in _SERVICES.items()}
    service = str(port) if flags & socket.NI_NUMERICSERV else services.get(port, str(port))
    return name, service


def gethostbyname(host: Host, name: str) -> str:
    """Returns the IPv4 address of a name."""
    return addresses(host, name or "0.0.0.0", _INET)[0]


def gethostbyname_ex(host: Host, name: str) -> tuple[str, list[str], list[str]]:
    """Returns the name, no other names, and the IPv4 address."""
    return name, [], [gethostbyname(host, name)]


def gethostbyaddr(host: Host, name: str) -> tuple[str, list[str], list[str]]:
    """Returns the name of the host that has an address. Raises `socket.herror` if nobody has it."""
    text = addresses(host, name)[0]
    found = owner(host, text)
    if found is None:
        raise socket.herror(1, "Unknown host")
    return getnameinfo(host, (text, 0))[0], [], [text]
