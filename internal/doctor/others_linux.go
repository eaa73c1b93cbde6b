package doctor

import "os"

func listening() []string {
	listing, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		return nil
	}
	return parseSockets(listing)
}
