"""A model behind an OpenAI-compatible address: ``POST <url>/chat/completions``.

One request, no streaming, no redirects (they would carry passages and key elsewhere), no
retries. The answer is read up to a bound. The time limit holds for each wait and for the whole;
a server that drips can so take at most twice the limit.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING

from agentic_os.errors import ModelError
from agentic_os.language_models.interface import MAX_REPLY_BYTES, Prompt, Reply, bounded

if TYPE_CHECKING:
    import httpx

CONNECT_SECONDS = 10.0
_UNAUTHORISED = frozenset({401, 403})


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpProvider:
    """A chat model at an address that was checked; see ``choice``."""

    url: str
    place: str
    model: str
    key: str | None = field(repr=False)
    limit_seconds: float
    loopback: bool

    @property
    def name(self) -> str:
        """The model and where it is."""
        return f"{self.model} at {self.place}"

    def complete(self, prompt: Prompt) -> Reply:
        """Ask the model.

        Raises:
            ModelError: MODEL_UNREACHABLE, MODEL_REFUSED, MODEL_TIMED_OUT or
                MODEL_ANSWER_INVALID.
        """
        import httpx

        limits = httpx.Timeout(self.limit_seconds, connect=min(CONNECT_SECONDS, self.limit_seconds))
        try:
            # A proxy of the environment's is for the world, not for this machine.
            with (
                httpx.Client(timeout=limits, trust_env=not self.loopback) as client,
                client.stream(
                    "POST",
                    f"{self.url}/chat/completions",
                    json=self._request(prompt),
                    headers=self._headers(),
                ) as response,
            ):
                if response.status_code != HTTPStatus.OK:
                    raise self._refused(response.status_code)
                body = b"".join(self._pieces(response))
        except httpx.TimeoutException as fault:
            raise self._late() from fault
        except httpx.HTTPError as fault:
            raise ModelError(
                f"{self.name} cannot be reached: {type(fault).__name__}",
                code="MODEL_UNREACHABLE",
                hint="Is it running? Check the address in projects.toml.",
            ) from fault
        return _reply(body, self.name)

    def _request(self, prompt: Prompt) -> dict[str, object]:
        return {
            "model": self.model,
            "messages": [
                {"role": "system", "content": prompt.system},
                {"role": "user", "content": prompt.user},
            ],
            "temperature": 0,
            "stream": False,
        }

    def _headers(self) -> dict[str, str]:
        # The answer is bounded as it comes; unpacked, a small one could be large.
        headers = {"accept": "application/json", "accept-encoding": "identity"}
        if self.key is not None:
            headers["authorization"] = f"Bearer {self.key}"
        return headers

    def _pieces(self, response: "httpx.Response") -> Iterator[bytes]:
        deadline = time.monotonic() + self.limit_seconds
        come = 0
        for piece in response.iter_raw():
            come += len(piece)
            if come > MAX_REPLY_BYTES:
                raise _invalid(self.name, f"more than {MAX_REPLY_BYTES} bytes")
            if time.monotonic() > deadline:
                raise self._late()
            yield piece

    def _refused(self, status: int) -> ModelError:
        hint = "Check the model's name and the address in projects.toml."
        if status in _UNAUTHORISED:
            hint = "Check the key in the variable that projects.toml names."
        return ModelError(f"{self.name} answered {status}", code="MODEL_REFUSED", hint=hint)

    def _late(self) -> ModelError:
        return ModelError(
            f"{self.name} did not answer within {self.limit_seconds:.0f} seconds",
            code="MODEL_TIMED_OUT",
        )


def _reply(body: bytes, name: str) -> Reply:
    """Read ``choices[0].message.content``: a text, or a list of parts with texts."""
    import json

    try:
        answer = json.loads(body)
    except (ValueError, RecursionError) as fault:
        raise _invalid(name, "something that is not JSON") from fault
    choices = answer.get("choices") if isinstance(answer, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "".join(part for part in parts if isinstance(part, str))
    if not isinstance(first, dict) or not isinstance(content, str) or not content.strip():
        raise _invalid(name, "no text")
    return bounded(content, cut=first.get("finish_reason") == "length")


def _invalid(name: str, fault: str) -> ModelError:
    return ModelError(f"{name} answered with {fault}", code="MODEL_ANSWER_INVALID")
