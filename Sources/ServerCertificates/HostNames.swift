import Foundation
import SwiftASN1
import X509

/// The names in a server certificate.
package enum HostNames {
    /// Whether the text is an address, or a name that a certificate can contain.
    package static func isHost(_ text: String) -> Bool {
        self.addressBytes(text) != nil || self.isDNSName(text.lowercased())
    }

    /// The hosts that a certificate was made for, without those that every certificate has.
    static func hosts(of certificate: Certificate) -> [String] {
        guard let names = try? certificate.extensions.subjectAlternativeNames else { return [] }
        let always = self.names(for: [])
        return names.filter { !always.contains($0) }.compactMap { name in
            switch name {
            case .dnsName(let name): name
            case .ipAddress(let address): self.text(ofAddress: Array(address.bytes))
            default: nil
            }
        }
    }

    private static func text(ofAddress bytes: [UInt8]) -> String? {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        guard bytes.count == 4 || bytes.count == 16,
            inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil
        else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The names for the hosts that an operator listens on, without repetition.
    ///
    /// A wildcard address adds none, because no client connects to it.
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

    /// Whether the text is 1 to 253 bytes of labels, each with 1 to 63 letters, digits, `-` and
    /// `_`.
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
