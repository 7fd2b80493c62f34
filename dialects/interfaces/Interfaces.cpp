// SPDX-License-Identifier: Apache-2.0
#include "dialects/interfaces/Interfaces.h"

#include "dialects/interfaces/Interfaces.cpp.inc"
