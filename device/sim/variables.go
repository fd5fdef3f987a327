package sim

import (
	"fmt"

	"flashlab/device"
	"flashlab/device/protocol"
)

var _ device.Variables = (*module)(nil)

// Variable finds a variable of the module, for CopyIn and CopyOut.
func (m *module) Variable(name string) (device.Memory, error) {
	v := device.Memory{Name: name}
	if err := m.device.ask(protocol.New(protocol.OpVariable, m.id, name), nil, &v.Addr, &v.Bytes); err != nil {
		return v, fmt.Errorf("%s has no variable %s: it is a __device__ or __constant__ one's name, with its namespaces (%w)", m.source.Name, name, err)
	}
	return v, nil
}
