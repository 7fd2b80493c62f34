// SPDX-License-Identifier: Apache-2.0
// Passes of the fuse room.
