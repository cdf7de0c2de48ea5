"""A platform of verl without accelerators, registered as verl's plugins are: VERL_USE_EXTERNAL_MODULES=cpu_platform.

Ray still counts a GPU for each process, which `num_gpus` of a test's cluster gives.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import torch
from verl.plugin.platform.platform_base import PlatformBase
from verl.plugin.platform.platform_manager import set_platform


class CpuPlatform(PlatformBase):
    device_name: Any = "cpu"
    vendor_name: Any = "none"
    device_module: Any = SimpleNamespace(
        memory_allocated=lambda: 0,
        memory_reserved=lambda: 0,
        max_memory_allocated=lambda: 0,
        max_memory_reserved=lambda: 0,
        mem_get_info=lambda: (0, 0),
        is_available=lambda: False,
        get_device_name=lambda: "CPU",
        get_rng_state=lambda *_: torch.get_rng_state(),
        set_rng_state=lambda *_: None,
        empty_cache=lambda: None,
    )

    def is_available(self) -> bool:
        return True

    def current_device(self) -> Any:
        return "cpu"

    def device_count(self) -> int:
        return 1

    def set_device(self, device_index: int) -> None: ...
    def synchronize(self, device_index: int | None = None) -> None: ...
    def manual_seed(self, seed: int) -> None:
        torch.manual_seed(seed)

    def manual_seed_all(self, seed: int) -> None:
        torch.manual_seed(seed)

    def set_allocator_settings(self, settings: str) -> None: ...
    def empty_cache(self) -> None: ...
    def get_device_capability(self, device_index: int = 0) -> tuple[None, None]:
        return None, None

    def communication_backend_name(self) -> str:
        # verl would ask torch for two backends, one for the CPU and one for the device, which are the same here.
        if not torch.distributed.is_initialized():
            torch.distributed.init_process_group("gloo")
        return "gloo"

    def visible_devices_envvar(self) -> str:
        return "CUDA_VISIBLE_DEVICES"

    @contextmanager
    def nvtx_range(self, msg: str) -> Iterator[None]:  # pyright: ignore[reportIncompatibleMethodOverride]
        yield

    def profiler_start(self) -> None: ...
    def profiler_stop(self) -> None: ...
    def ray_resource_name(self) -> str:
        return "GPU"

    def ray_noset_envvars(self) -> list[str]:
        return []

    def is_ipc_supported(self) -> bool:
        return False

    def cudart(self) -> Any:
        return None


set_platform(CpuPlatform())
