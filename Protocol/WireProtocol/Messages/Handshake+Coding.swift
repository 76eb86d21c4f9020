import struct Foundation.Data
package import NIOCore
import RecordModel

extension Hello {
    /// Reads the payload of a `hello`.
    ///
    /// A container that cannot exist is not refused here: the server answers it like one that does not exist.
    package init(decoding payload: ByteBuffer) throws(WireError) {
        let message = try PBHello(payload: payload, field: "hello")
        guard (1...Self.versionsMax).contains(message.versions.count) else {
            throw WireError(.outOfBounds, field: "versions")
        }
        guard message.container.utf8.count <= Bounds.nameBytesMax else {
            throw WireError(.outOfBounds, field: "container")
        }
        guard
            let environment = UInt8(exactly: message.environment.rawValue).flatMap(
                Environment.init(rawValue:)
            )
        else {
            throw WireError(.unknownNumber, field: "environment")
        }
        guard message.accessToken.utf8.count <= Self.accessTokenBytesMax else {
            throw WireError(.outOfBounds, field: "access_token")
        }
        guard message.identityToken.utf8.count <= Self.identityTokenBytesMax else {
            throw WireError(.outOfBounds, field: "identity_token")
        }
        let credentials = [
            !message.accessToken.isEmpty, message.hasServiceKey, !message.identityToken.isEmpty,
        ]
        guard credentials.count(where: { $0 }) <= 1 else {
            throw WireError(.outOfBounds, field: "service_key")
        }
        guard [0, 16].contains(message.installationID.count) else {
            throw WireError(.outOfBounds, field: "installation_id")
        }
        guard message.client.utf8.count <= Self.clientBytesMax else {
            throw WireError(.outOfBounds, field: "client")
        }
        guard message.hasWindows else { throw WireError(.missing, field: "windows") }
        self.init(
            versions: message.versions,
            container: message.container,
            environment: environment,
            accessToken: message.accessToken,
            installationID: [UInt8](message.installationID),
            client: message.client,
            windows: try Windows(message.windows),
            serviceKey: message.hasServiceKey ? try ServiceKeyName(message.serviceKey) : nil,
            identityToken: message.identityToken
        )
    }

    package func encoded() -> ByteBuffer {
        var message = PBHello()
        message.versions = self.versions
        message.container = self.container
        message.environment = PBEnvironment(rawValue: Int(self.environment.rawValue)) ?? .unspecified
        message.accessToken = self.accessToken
        message.installationID = Data(self.installationID)
        message.client = messageText(self.client, bytesMax: Self.clientBytesMax)
        message.windows = self.windows.generated
        if let serviceKey = self.serviceKey { message.serviceKey = serviceKey.generated }
        message.identityToken = self.identityToken
        return message.payload()
    }
}

extension Windows {
    init(_ message: PBWindows) throws(WireError) {
        guard Self.permittedBytes.contains(message.connectionBytes) else {
            throw WireError(.outOfBounds, field: "connection_bytes")
        }
        guard Self.permittedBytes.contains(message.streamBytes) else {
            throw WireError(.outOfBounds, field: "stream_bytes")
        }
        self.init(connectionBytes: message.connectionBytes, streamBytes: message.streamBytes)
    }

    var generated: PBWindows {
        var message = PBWindows()
        message.connectionBytes = self.connectionBytes
        message.streamBytes = self.streamBytes
        return message
    }
}

extension Welcome {
    /// Reads the payload of a `welcome`.
    package init(decoding payload: ByteBuffer) throws(WireError) {
        let message = try PBWelcome(payload: payload, field: "welcome")
        guard message.version > 0 else { throw WireError(.missing, field: "version") }
        guard message.hasLimits else { throw WireError(.missing, field: "limits") }
        guard message.hasWindows else { throw WireError(.missing, field: "windows") }
        self.init(
            version: message.version,
            server: message.server,
            userRecordName: message.userRecordName,
            serverTimeMilliseconds: message.serverTimeMs,
            limits: try Limits(message.limits),
            windows: try Windows(message.windows)
        )
    }

    package func encoded() -> ByteBuffer {
        var message = PBWelcome()
        message.version = self.version
        message.server = self.server
        message.userRecordName = self.userRecordName
        message.serverTimeMs = self.serverTimeMilliseconds
        message.limits = self.limits.generated
        message.windows = self.windows.generated
        return message.payload()
    }
}

extension Limits {
    init(_ message: PBLimits) throws(WireError) {
        let limits = [
            message.frameBytesMax, message.requestItemsMax, message.requestBytesMax, message.recordBytesMax,
            message.inFlightMax, message.idleTimeoutMs, message.requestIDRetentionS, message.deadlineMsMax,
        ]
        // A limit of 0 would be a server that one can do nothing with, or a client's division by it.
        guard !limits.contains(0) else { throw WireError(.outOfBounds, field: "limits") }
        self.init()
        self.frameBytesMax = message.frameBytesMax
        self.requestItemsMax = message.requestItemsMax
        self.requestBytesMax = message.requestBytesMax
        self.recordBytesMax = message.recordBytesMax
        self.inFlightMax = message.inFlightMax
        self.idleTimeoutMilliseconds = message.idleTimeoutMs
        self.requestIDRetentionSeconds = message.requestIDRetentionS
        self.deadlineMillisecondsMax = message.deadlineMsMax
        self.answerBytesMax = message.answerBytesMax
        self.assetBytesMax = message.assetBytesMax
        self.assetChunkBytes = message.assetChunkBytes
        self.assetTimeoutMilliseconds = message.assetTimeoutMs
        self.assetGraceSeconds = message.assetGraceS
        self.slowReaderTimeoutMilliseconds = message.slowReaderTimeoutMs
        self.tombstoneRetentionSeconds = message.tombstoneRetentionS
        self.deleteSelfReferencesMax = message.deleteSelfReferencesMax
        self.shareMissesPerMinuteMax = message.shareMissesPerMinuteMax
        self.userBytesMax = message.userBytesMax
    }

    var generated: PBLimits {
        var message = PBLimits()
        message.frameBytesMax = self.frameBytesMax
        message.requestItemsMax = self.requestItemsMax
        message.requestBytesMax = self.requestBytesMax
        message.recordBytesMax = self.recordBytesMax
        message.inFlightMax = self.inFlightMax
        message.idleTimeoutMs = self.idleTimeoutMilliseconds
        message.requestIDRetentionS = self.requestIDRetentionSeconds
        message.deadlineMsMax = self.deadlineMillisecondsMax
        message.answerBytesMax = self.answerBytesMax
        message.assetBytesMax = self.assetBytesMax
        message.assetChunkBytes = self.assetChunkBytes
        message.assetTimeoutMs = self.assetTimeoutMilliseconds
        message.assetGraceS = self.assetGraceSeconds
        message.slowReaderTimeoutMs = self.slowReaderTimeoutMilliseconds
        message.tombstoneRetentionS = self.tombstoneRetentionSeconds
        message.deleteSelfReferencesMax = self.deleteSelfReferencesMax
        message.shareMissesPerMinuteMax = self.shareMissesPerMinuteMax
        message.userBytesMax = self.userBytesMax
        return message
    }
}

extension GoAway {
    /// Reads the payload of a `goaway`.
    package init(decoding payload: ByteBuffer) throws(WireError) {
        let message = try PBGoAway(payload: payload, field: "goaway")
        guard message.message.utf8.count <= Bounds.messageBytesMax else {
            throw WireError(.outOfBounds, field: "message")
        }
        self.init(
            reason: CloseReason(rawValue: message.reason),
            message: message.message,
            retryAfterMilliseconds: message.retryAfterMs,
            versions: message.versions
        )
    }

    /// The encoded message.
    ///
    /// A text that is too long is cut.
    package func encoded() -> ByteBuffer {
        var message = PBGoAway()
        message.reason = self.reason.rawValue
        message.message = messageText(self.message, bytesMax: Bounds.messageBytesMax)
        message.retryAfterMs = self.retryAfterMilliseconds
        message.versions = self.versions
        return message.payload()
    }
}
