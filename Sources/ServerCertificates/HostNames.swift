import Foundation
import SwiftASN1
import X509

/// Which names a server certificate carries.
enum HostNames {
    /// The names for what an operator listens on, without repetition.
    ///
    /// A wildcard address names nothing that a client connects to and adds none.
    static func names(for hosts: [String]) -> [GeneralName] {
        var names: [GeneralName] = []
        for host in ["localhost", "127.0.0.1", "::1", ProcessInfo.processInfo.hostName] + hosts {
            guard let name = self.name(host), !names.contains(name) else { continue }
            names.append(name)
        }
        return names
    }

    private static func name(_ host: String) -> GeneralName? {
        if let address = self.addressBytes(host) {
            return address.allSatisfy { $0 == 0 }
                ? nil : .ipAddress(ASN1OctetString(contentBytes: address[...]))
        }
        let lowered = host.lowercased()
        return self.isDNSName(lowered) ? .dnsName(lowered) : nil
    }

    /// The 4 or 16 bytes of a literal address.
    private static func addressBytes(_ host: String) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, host, &bytes) == 1 { return Array(bytes.prefix(4)) }
        if inet_pton(AF_INET6, host, &bytes) == 1 { return bytes }
        return nil
    }

    /// 1 to 253 bytes: labels of letters, digits, `-` and `_`, none empty or longer than 63.
    private static func isDNSName(_ host: String) -> Bool {
        guard (1...253).contains(host.utf8.count) else { return false }
        return host.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            (1...63).contains(label.utf8.count)
                && label.utf8.allSatisfy { byte in
                    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                        || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
                }
        }
    }
}
