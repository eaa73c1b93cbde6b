package page

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// owners tells whose a connection of this machine is, from the tables of connections of Linux, proc_net(5). The files
// are opened once, because the sandbox of the command forbids it later.
type owners struct {
	tables []*os.File // none on other systems
	user   int
}

// openOwners opens the tables.
func openOwners() *owners {
	o := &owners{user: os.Getuid()}
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		if table, err := os.Open(name); err == nil {
			o.tables = append(o.tables, table)
		}
	}
	return o
}

func (o *owners) close() {
	for _, table := range o.tables {
		_ = table.Close() // only read
	}
}

// isOurs reports whether the other end of an open connection belongs to the user of this process, or to root, which
// forwards ports for the systems that run this one as a guest. Without tables it is true. Addresses are host:port.
func (o *owners) isOurs(remote, local string) bool {
	for _, table := range o.tables {
		uid, found := owner(io.NewSectionReader(table, 0, 1<<30), remote, local)
		if found {
			return uid == o.user || uid == 0
		}
	}
	return len(o.tables) == 0
}

// established is the state of an open connection. One that its program closed has no owner any more.
const established = "01"

// owner returns the user of the end of a connection that is at the address from. The fields of a line of the table
// are its number, both addresses, the state, three pairs of counters, and the user.
func owner(table io.Reader, from, to string) (uid int, found bool) {
	for lines := bufio.NewScanner(table); lines.Scan(); {
		f := strings.Fields(lines.Text())
		if len(f) < 8 || f[3] != established || !isAt(f[1], from) || !isAt(f[2], to) {
			continue
		}
		uid, err := strconv.Atoi(f[7])
		return uid, err == nil
	}
	return 0, false
}

// isAt reports whether a table means this address, of 4 or 16 bytes: words of 32 bits as this machine stores them,
// and the port, all in hexadecimal digits.
func isAt(field, address string) bool {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return false
	}
	form := func(ip []byte) (text string) {
		for ; len(ip) > 0; ip = ip[4:] {
			text += fmt.Sprintf("%08X", binary.NativeEndian.Uint32(ip))
		}
		return text + fmt.Sprintf(":%04X", at.Port())
	}
	mapped := at.Addr().As16()
	return field == form(at.Addr().Unmap().AsSlice()) || field == form(mapped[:])
}
