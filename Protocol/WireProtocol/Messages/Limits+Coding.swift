import NIOCore
import RecordModel

extension Limits {
    /// An absent limit is 0.
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init()
        for field in Proto.Limits.allCases { self[field] = 0 }
        while let field = try message.next(Proto.Limits.self) { self[field] = try message.varint() }
        // A limit of 0 would make a server useless, or a client divide by zero.
        let demanded = Proto.Limits.allCases.prefix { $0 != .responseBytesMax }
        guard demanded.allSatisfy({ self[$0] > 0 }) else { throw WireError(.outOfBounds, field: "limits") }
    }

    /// These limits, bounded by the client's own maxima.
    package var boundedForClient: Limits {
        var limits = self
        limits.frameBytesMax = min(self.frameBytesMax, UInt32(ClientBounds.frameBytesMax))
        limits.responseBytesMax =
            self.responseBytesMax == 0
            ? Self.defaults.responseBytesMax
            : min(self.responseBytesMax, UInt32(ClientBounds.responseBytesMax))
        limits.inFlightMax = min(self.inFlightMax, UInt32(ClientBounds.inFlightMax))
        let idle = ClientBounds.idleTimeoutMilliseconds
        limits.idleTimeoutMilliseconds = min(
            max(self.idleTimeoutMilliseconds, idle.lowerBound),
            idle.upperBound
        )
        return limits
    }

    func encode(into buffer: inout ByteBuffer) {
        for field in Proto.Limits.allCases { buffer.writeField(field, self[field]) }
    }

    private subscript(field: Proto.Limits) -> UInt64 {
        get {
            switch field.property {
            case .narrow(let property): UInt64(self[keyPath: property])
            case .wide(let property): self[keyPath: property]
            }
        }
        set {
            switch field.property {
            case .narrow(let property): self[keyPath: property] = UInt32(truncatingIfNeeded: newValue)
            case .wide(let property): self[keyPath: property] = newValue
            }
        }
    }
}

private enum LimitProperty {
    case narrow(WritableKeyPath<Limits, UInt32>)
    case wide(WritableKeyPath<Limits, UInt64>)
}

extension Proto.Limits {
    /// The limit that the field encodes.
    fileprivate var property: LimitProperty {
        switch self {
        case .frameBytesMax: .narrow(\.frameBytesMax)
        case .requestItemsMax: .narrow(\.requestItemsMax)
        case .requestBytesMax: .narrow(\.requestBytesMax)
        case .recordBytesMax: .narrow(\.recordBytesMax)
        case .inFlightMax: .narrow(\.inFlightMax)
        case .idleTimeoutMs: .narrow(\.idleTimeoutMilliseconds)
        case .requestIDRetentionS: .narrow(\.requestIDRetentionSeconds)
        case .deadlineMsMax: .narrow(\.deadlineMillisecondsMax)
        case .responseBytesMax: .narrow(\.responseBytesMax)
        case .assetBytesMax: .wide(\.assetBytesMax)
        case .assetChunkBytes: .narrow(\.assetChunkBytes)
        case .assetTimeoutMs: .narrow(\.assetTimeoutMilliseconds)
        case .assetGraceS: .narrow(\.assetGraceSeconds)
        case .slowReaderTimeoutMs: .narrow(\.slowReaderTimeoutMilliseconds)
        case .tombstoneRetentionS: .narrow(\.tombstoneRetentionSeconds)
        case .deleteSelfReferencesMax: .narrow(\.deleteSelfReferencesMax)
        case .shareMissesPerMinuteMax: .narrow(\.shareMissesPerMinuteMax)
        case .userBytesMax: .wide(\.userBytesMax)
        }
    }
}
