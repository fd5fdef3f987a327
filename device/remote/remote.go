// Package remote puts a device behind a socket: a server in the process that
// owns the device, and a client that is a device.Device itself. A submission
// gets the client, so that it can allocate, copy, compile and launch, but can
// neither crash the device's owner nor touch what the device reports.
//
// The server trusts nothing that it reads: messages are bounded (package
// protocol), and every address is looked up among the allocations it handed out.
package remote
