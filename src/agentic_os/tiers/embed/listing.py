"""``model list``: what stands on the shelf, and which model would be opened."""

from pathlib import Path

from agentic_os.errors import SemanticIndexError
from agentic_os.results import Answer, Diagnostic, ModelsData, ModelView, PreparedModelData
from agentic_os.tiers.embed.manifest import Manifest
from agentic_os.tiers.embed.prepare.request import Prepared
from agentic_os.tiers.embed.selection import find_model
from agentic_os.tiers.embed.shelf import Shelf, verify


def list_models(
    data: Path, *, choice: str | None = None, hashed: bool = False
) -> Answer[ModelsData]:
    """List the prepared models; damaged ones are listed with a warning.

    Args:
        data: the data directory.
        choice: what the person chose; ``None`` for the default model.
        hashed: hash every file instead of looking at its length alone.
    """
    found = find_model(data, choice)
    selected = None if found is None else found[0].name
    views: list[ModelView] = []
    warnings: list[Diagnostic] = []
    for model in Shelf(data).models():
        manifest, fault = model.manifest, model.fault
        if manifest is not None and hashed:
            try:
                verify(model.path, manifest)
            except SemanticIndexError as refusal:
                manifest, fault = None, refusal
        if manifest is None:
            views.append(_damaged(model.path.name))
        else:
            chosen = model.path.name == selected
            views.append(_view(model.path.name, manifest, selected=chosen, verified=hashed))
        if fault is not None:
            warnings.append(
                Diagnostic(
                    code=fault.code, severity="warning", message=fault.message, hint=fault.hint
                )
            )
    return Answer(data=ModelsData(models=tuple(views)), warnings=tuple(warnings))


def prepared_answer(data: Path, prepared: Prepared) -> Answer[PreparedModelData]:
    """Describe a prepared model for ``model prepare``."""
    found = find_model(data)
    view = _view(
        prepared.path.name,
        prepared.manifest,
        selected=found is not None and found[0] == prepared.path,
        verified=True,
    )
    return Answer(data=PreparedModelData(model=view, already=prepared.already))


def _view(folder: str, manifest: Manifest, *, selected: bool, verified: bool) -> ModelView:
    return ModelView(
        folder=folder,
        state="sound",
        selected=selected,
        verified=verified,
        name=manifest.name,
        fingerprint=manifest.fingerprint,
        backend=manifest.backend,
        dimension=manifest.dimension,
        max_tokens=manifest.recipe.max_tokens,
        source=manifest.source,
        licence=manifest.licence or None,
        prepared_at=manifest.prepared_at,
        bytes=manifest.total_bytes,
    )


def _damaged(folder: str) -> ModelView:
    return ModelView(folder=folder, state="damaged", selected=False, verified=False)
