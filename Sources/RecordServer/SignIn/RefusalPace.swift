import NIOCore

/// How soon an address is told that it may not come in.
///
/// The first refusals are told at once, since most are mistakes; then one more a second, and the
/// others a second later. Nobody is locked out, and nobody else waits.
struct RefusalPace {
    /// Refusals of one address that are told at once.
    static let burst = 10
    private static let refillInterval = TimeAmount.seconds(1)
    static let pause = TimeAmount.seconds(1)
    /// At the bound all are forgotten: it takes 4,096 networks to get there.
    private static let addressesMax = 4_096

    /// When all that an address has used up is there again.
    private var fullAgain: [String: NIODeadline] = [:]

    /// Networks that are remembered.
    var count: Int { self.fullAgain.count }

    /// Somebody from a network was refused.
    ///
    /// - Returns: How long to wait with the response.
    mutating func refused(_ network: String, now: NIODeadline) -> TimeAmount {
        if self.fullAgain[network] == nil, self.fullAgain.count >= Self.addressesMax {
            self.fullAgain = self.fullAgain.filter { $0.value > now }
            if self.fullAgain.count >= Self.addressesMax { self.fullAgain = [:] }
        }
        let full = max(self.fullAgain[network] ?? now, now) + Self.refillInterval
        guard full - now <= Self.refillInterval * Self.burst else { return Self.pause }
        self.fullAgain[network] = full
        return .zero
    }

    /// The whole of an IPv4 address, the first 64 bits of an IPv6 address: what one machine may
    /// choose from.
    static func network(of address: SocketAddress?) -> String {
        let text = address?.ipAddress ?? ""
        guard text.contains(":"), !text.contains(".") else { return text }
        var groups = text.split(separator: ":", omittingEmptySubsequences: false)
        if let gap = groups.firstIndex(of: "") {
            let zeros = Array(repeating: Substring("0"), count: max(0, 8 - groups.count { !$0.isEmpty }))
            groups = (groups[..<gap] + zeros + groups[gap...]).filter { !$0.isEmpty }
        }
        return groups.prefix(4).joined(separator: ":")
    }
}
