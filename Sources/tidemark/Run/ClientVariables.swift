/// The environment variables of a client on this machine, as lines for a shell.
struct ClientVariables {
    let address: ListenAddress
    /// `nil` if the certificate is the operator's, which clients trust already.
    let authorityPath: String?

    var lines: String {
        let url = ListenAddress(host: self.host, port: self.address.port)
        var lines = "export TIDEMARK_URL=\(Self.quoted("tidemark://\(url)"))\n"
        if let authorityPath { lines += "export TIDEMARK_CA=\(Self.quoted(authorityPath))\n" }
        return lines
    }

    /// A wildcard address is replaced, because clients cannot connect to it.
    private var host: String {
        switch self.address.host {
        case "0.0.0.0": "127.0.0.1"
        case "::": "::1"
        default: self.address.host
        }
    }

    /// A shell word, in quotes if needed.
    static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "/._-:@%+,".utf8.contains(byte)
            }
        }
        return isPlain ? text : "'" + text.replacing("'", with: #"'\''"#) + "'"
    }
}
