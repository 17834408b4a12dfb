"""Past the output limit a program's words are dropped, but not its events: how it finished must still be heard."""
LONGEST_LINE = 1 << 20
ROOM = 16 << 20  # of events beyond the limit; a flood that looks like events is dropped too in the end


class Sieve:
    def __init__(self):
        self.room, self.held, self.fresh = ROOM, None, False

    def events(self, data):
        """The whole lines of data that look like events; a line that goes on in the next data is held."""
        kept, at = [], 0
        if self.held is not None:
            end = data.find(b"\n")
            if end < 0:
                self.held = self.held + data if len(self.held) + len(data) <= LONGEST_LINE else None
                self.fresh = False
                return b""
            self.keep(self.held + data[:end + 1], kept)
            self.held, self.fresh, at = None, True, end + 1
        while at < len(data):
            if not (self.fresh and data[at] == 0x7B):
                at = data.find(b"\n{", at) + 1
                if at == 0:
                    break
            end = data.find(b"\n", at)
            if end < 0:
                self.held = data[at:]
                break
            self.keep(data[at:end + 1], kept)
            self.fresh, at = True, end + 1
        self.fresh = data.endswith(b"\n")
        return b"".join(kept)

    def keep(self, line, kept):
        if len(line) <= self.room and (b'"event"' in line or b'"type"' in line):
            self.room -= len(line)
            kept.append(line)
