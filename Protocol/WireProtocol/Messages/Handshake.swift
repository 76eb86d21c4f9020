package import RecordModel

/// Frame `hello`: the first frame of a client.
package struct Hello: Hashable, Sendable {
    /// Maximum number of versions in one offer.
    package static let versionsMax = 16
    package static let accessTokenBytesMax = 1_024
    package static let identityTokenBytesMax = 3_072
    /// Maximum length of a client library's name and version.
    package static let clientBytesMax = 128

    /// Protocol versions that the client speaks, in order of preference.
    package var versions: [UInt32]
    package var container: String
    package var environment: Environment
    /// Empty for another credential, or if not signed in.
    package var accessToken: String
    /// 16 bytes, or none.
    package var installationID: [UInt8]
    package var client: String
    package var windows: Windows
    /// `nil` if there is another credential, or none.
    package var serviceKey: ServiceKeyName?
    /// A token of an identity provider; empty for another credential, or if not signed in.
    package var identityToken: String

    package init(
        versions: [UInt32] = [ProtocolVersion.current],
        container: String,
        environment: Environment,
        accessToken: String,
        installationID: [UInt8] = [],
        client: String,
        windows: Windows = .defaults,
        serviceKey: ServiceKeyName? = nil,
        identityToken: String = ""
    ) {
        self.versions = versions
        self.container = container
        self.environment = environment
        self.accessToken = accessToken
        self.installationID = installationID
        self.client = client
        self.windows = windows
        self.serviceKey = serviceKey
        self.identityToken = identityToken
    }
}

/// Flow-control windows granted at the start, in payload bytes.
package struct Windows: Hashable, Sendable {
    package static let defaults = Windows(connectionBytes: 4 * 1024 * 1024, streamBytes: 1024 * 1024)
    /// The initial size of a window.
    ///
    /// The upper bound is also the maximum size of a window.
    package static let permittedBytes: ClosedRange<UInt32> = 65_536...0x7FFF_FFFF

    package var connectionBytes: UInt32
    package var streamBytes: UInt32

    package init(connectionBytes: UInt32, streamBytes: UInt32) {
        self.connectionBytes = connectionBytes
        self.streamBytes = streamBytes
    }
}

/// Frame `welcome`: the server's response to `hello`.
package struct Welcome: Hashable, Sendable {
    package var version: UInt32
    package var server: String
    /// Empty if not signed in.
    package var userRecordName: String
    package var serverTimeMilliseconds: Int64
    package var limits: Limits
    package var windows: Windows
    /// Whether every operation on the connection fails, because the operator has restricted the
    /// processing of the user's data.
    package var isRestricted = false

    package init(
        version: UInt32,
        server: String,
        userRecordName: String,
        serverTimeMilliseconds: Int64,
        limits: Limits,
        windows: Windows
    ) {
        self.version = version
        self.server = server
        self.userRecordName = userRecordName
        self.serverTimeMilliseconds = serverTimeMilliseconds
        self.limits = limits
        self.windows = windows
    }
}

/// The limits, in force on a connection, that an operator may set and a client can use; the
/// `.proto` gives the units.
package struct Limits: Hashable, Sendable {
    /// The values of section 7 of the specification.
    package static let defaults = Limits()

    package var frameBytesMax = UInt32(Bounds.defaults.frameBytesMax)
    package var requestItemsMax = UInt32(Bounds.defaults.requestItemsMax)
    package var requestBytesMax = UInt32(Bounds.defaults.requestBytesMax)
    package var recordBytesMax = UInt32(Bounds.defaults.recordBytesMax)
    package var inFlightMax = UInt32(Bounds.defaults.inFlightMax)
    package var idleTimeoutMilliseconds: UInt32 = 60_000
    package var requestIDRetentionSeconds: UInt32 = 3_600
    package var deadlineMillisecondsMax: UInt32 = 60_000
    // 0 with an older server, from here on.
    package var responseBytesMax = UInt32(Bounds.defaults.responseBytesMax)
    package var assetBytesMax = UInt64(Bounds.defaults.assetBytesMax)
    package var assetChunkBytes: UInt32 = 8 * 1_024 * 1_024
    package var assetTimeoutMilliseconds: UInt32 = 60_000
    package var assetGraceSeconds: UInt32 = 86_400
    package var slowReaderTimeoutMilliseconds: UInt32 = 30_000
    package var tombstoneRetentionSeconds: UInt32 = 31_536_000
    package var deleteSelfReferencesMax = UInt32(Bounds.defaults.deleteSelfReferencesMax)
    package var shareMissesPerMinuteMax = UInt32(Bounds.defaults.shareMissesPerMinuteMax)
    /// 0 if there is no quota.
    package var userBytesMax: UInt64 = 0

    package init() {}
}

/// Frame `goaway`: no new streams (drain), or the end at once (any other reason).
package struct GoAway: Hashable, Sendable {
    package var reason: CloseReason
    /// For people; clients must not match it.
    package var message: String
    /// 0 if there is no advice.
    package var retryAfterMilliseconds: UInt32
    /// Only with `versionUnsupported`: the server's versions.
    package var versions: [UInt32]

    package init(
        reason: CloseReason,
        message: String,
        retryAfterMilliseconds: UInt32 = 0,
        versions: [UInt32] = []
    ) {
        self.reason = reason
        self.message = message
        self.retryAfterMilliseconds = retryAfterMilliseconds
        self.versions = versions
    }
}
