"""cnmon's output of several releases, written after those that were seen; values are made up."""

from __future__ import annotations

V5 = """\
+------------------------------------------------------------------------------+
| CNMON v5.99.13                                               Driver v5.99.14 |
+-------------------------------+----------------------+-----------------------+
| Card  VF  Name       Firmware |               Bus-Id | Util        Ecc-Error |
| Fan   Temp      Pwr:Usage/Cap |         Memory-Usage | SR-IOV   Compute-Mode |
|===============================+======================+=======================|
| 0     /   MLU999-X8    v1.9.6 |         0000:3A:00.0 | 12%               N/A |
|  0%   32C        106 W/ 250 W |     5 MiB/ 23374 MiB | N/A           Default |
+-------------------------------+----------------------+-----------------------+
| 1     /   MLU999-X8    v1.9.6 |         0000:3D:00.0 | 0%                N/A |
|  0%   39C        107 W/ 250 W |     0 MiB/ 23374 MiB | N/A         Exclusive |
+-------------------------------+----------------------+-----------------------+

+------------------------------------------------------------------------------+
| Processes:                                                                   |
|  Card  MI  PID     Command Line                             MLU Memory Usage |
|==============================================================================|
|  1     /   50005   python train.py --name a|b                       1024 MiB |
+------------------------------------------------------------------------------+
"""

MODE = """\
+------------------------------------------------------------------------------+
| CNMON v5.99.31                                               Driver v5.99.31 |
+-------------------------------+----------------------+-----------------------+
| Card  VF  Name       Firmware |               Bus-Id | Util        Ecc-Error |
| Fan   Temp      Pwr:Usage/Cap |         Memory-Usage | Mode     Compute-Mode |
|===============================+======================+=======================|
| 0     /   MLUXXX-XX    v1.5.0 |         0000:4F:00.0 | 0%                  0 |
| /     35C        105 W/ 550 W |     0 MiB/ xxxxx MiB | FULL          Default |
+-------------------------------+----------------------+-----------------------+
"""

V4 = """\
+------------------------------------------------------------------------------+
| CNMON v4.99.11                                                               |
+-------------------------------+----------------------+-----------------------+
| Card  VF  Name       Firmware | Inited        Driver | Util        Ecc-Error |
| Fan   Temp      Pwr:Usage/Cap |         Memory-Usage |         vMemory-Usage |
|===============================+======================+=======================|
| 0     /   MLU999-X4    v1.1.6 | On          v4.99.12 | 0%          N/A       |
|  0%   32C         30 W/ 150 W |     7 MiB/ 23308 MiB | 10240 MiB/1048576 MiB |
+-------------------------------+----------------------+-----------------------+
| 2     /   MLU999-X4    v1.1.6 | On          v4.99.12 | 0%          N/A       |
|  0%   30C         26 W/ 150 W |     0 MiB/ 23308 MiB | 10240 MiB/1048576 MiB |
+-------------------------------+----------------------+-----------------------+
"""

V1 = """\
+-----------------------------------------------------------------------------+
| CNMON 1.99.0                                                                |
+------------------------------+----------------------+-----------------------+
| Card  VF  Name      Firmware | Inited        Driver | Util        Ecc-Error |
| Fan   Temp     Pwr:Usage/Cap |         Memory-Usage |         vMemory-Usage |
|==============================+======================+=======================|
| 0     /   MLU999-M2   v1.1.1 | On            v4.9.9 | 0%          N/A       |
|  0%   51C     3.70 W/ 8.25 W |   967 MiB/  4096 MiB | 10240 MiB/1048576 MiB |
+------------------------------+----------------------+-----------------------+

+-----------------------------------------------------------------------------+
| Processes:                                                                  |
|  Card  VF  PID    Command Line                           MLU Memory Usage   |
|=============================================================================|
|  No running processes found                                                 |
+-----------------------------------------------------------------------------+
"""

INFO = """\
================CNMON v5.99.22================
Card 0
    Product Name                   : MLU999-X4
    UUID                           : 00000001-9999-0000-0000-000000000001
    Firmware                       : v1.9.6
    Driver                         : v5.99.22
    Compute Mode                   : Default
    Health State                   :
        Device                     : Good
        Driver                     : Running
    Utilization                    :
        MLU Average                : 66 %
    Temperature                    :
        Board                      : 64 C
        Chip                       : 78 C
        Memory                     : 63 C
    Physical Memory Usage          :
        Total                      : 23308 MiB
        Used                       : 17320 MiB
        Free                       : 5988 MiB
    Virtual Memory Usage           :
        Total                      : 1048576 MiB
    Power                          :
        Usage                      : 44 W
        Cap                        : 150 W
    PCI                            :
        Domain ID                  : 0000
        Bus num                    : 1b
        Device                     : 00
        Function                   : 0
    Processes                      :
        Process                    : 0
            PID                    : 101934
            cmdline                : /bin/python a : b
            MLU Memory Usage       : 15829 MiB
        Process                    : 1
            PID                    : 101935
            MLU Memory Usage       : N/A
Card 1
    Product Name                   : MLU999-X4
    UUID                           :
    Driver                         : v5.99.22
    Health State                   :
        Device                     : Worried
    Temperature                    :
        Board                      : 51 C
    Processes                      :
"""

INFO_4 = """\
Card 0
    Product Name                   : MLU999-S4
    Driver                         : v4.99.18
    Utilization                    :
        MLU Average                : 66 %
    Physical Memory Usage          :
        Total                      : 23308 MiB
        Used                       : 4096 MiB
    Power                          :
        Usage                      : 38 W
"""

ALL = (V5, MODE, V4, V1, INFO, INFO_4)
