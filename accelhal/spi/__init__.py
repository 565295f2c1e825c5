"""What a plugin implements: a BackendSpec, a Runtime, and where the driver has one a Management.

Importing this package loads neither torch nor a vendor package.
"""

from accelhal.spi.capabilities import (
    CAPABILITIES as CAPABILITIES,
    REQUIRED_CAPABILITY as REQUIRED_CAPABILITY,
    Support as Support,
)
from accelhal.spi.commands import (
    COMMAND_GROUP as COMMAND_GROUP,
    CommandContext as CommandContext,
)
from accelhal.spi.evidence import (
    EvidenceError as EvidenceError,
    EvidenceReader as EvidenceReader,
    Section as Section,
)
from accelhal.spi.management import Management as Management
from accelhal.spi.runtime import Runtime as Runtime
from accelhal.spi.spec import (
    API_VERSION as API_VERSION,
    ENTRY_POINT_GROUP as ENTRY_POINT_GROUP,
    EXTENSIONS as EXTENSIONS,
    BackendSpec as BackendSpec,
)
