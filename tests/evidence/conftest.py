"""The doctor's fake host and toy backends, which evidence is taken of too."""

from doctor.conftest import fake as fake, install as install
