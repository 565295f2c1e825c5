/* Ports of a simulated board, and who is at their other end. */
#ifndef ACCELHAL_CNDEV_LINKS_H
#define ACCELHAL_CNDEV_LINKS_H

#include "boards.h"

API int cndevGetMLULinkPortNumber(int device) { int b = at(device); return b == NOWHERE ? -1 : (int)NUMBER("ports", 6); }
#ifdef OLD_DRIVER
LINK(cndevGetMLULinkStatus, link_status, out->isActive = (int)PORT_NUMBER("active", 1);)
#else
PLAIN_LINK(cndevGetMLULinkStatusV2, link_status_v2, out->macState = (int)PORT_NUMBER("mac", 1);)
PLAIN_LINK(cndevGetMLULinkErrorCounter, link_errors, out->correctFecCnt = (ul)PORT_NUMBER("fec", 0); out->rxBadFcsPkt = (ul)PORT_NUMBER("fcs", 0);)
PLAIN_LINK(cndevGetMLULinkEventCounter, link_events, out->linkDown = (ul)PORT_NUMBER("down", 0);)
#endif
LINK(cndevGetMLULinkCounter, link_counter, out->errCRC32 = (ul)PORT_NUMBER("crc32", 0);)
LINK(cndevGetMLULinkSpeedInfo, link_speed, out->speedValue = (float)PORT_NUMBER("gigabytes", 50);)
LINK(cndevGetMLULinkVersion, lib_version, out->libMajorVersion = (u32)PORT_NUMBER("link_version", 2);)
LINK(cndevGetMLULinkRemoteInfo, remote_info,
    int peer = (int)PORT_NUMBER("peer", -1);
    char name[32];
    snprintf(name, sizeof name, "remote_%d", link);
    TEXT(name, "", out->uuid);
    if (peer >= 0)
        uuid_of(peer, "uuid", "aa", out->uuid);
)

#endif
