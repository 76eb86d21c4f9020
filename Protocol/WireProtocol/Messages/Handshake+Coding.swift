package import NIOCore
import RecordModel

extension Hello {
    /// Reads the payload of a `hello`.
    ///
    /// An invalid container name is accepted here: the server answers it like an unknown container.
    package init(decoding payload: ByteBuffer) throws(WireError) {
        self.init(versions: [], container: "", environment: .production, accessToken: "", client: "")
        var environment: UInt32 = 0
        var windows: Windows?
        var message = MessageReader(payload, "hello")
        while let field = try message.next(Proto.Hello.self) {
            switch field {
            case .versions: self.versions += try message.packedUInt32s()
            case .versionsElement: self.versions.append(try message.uint32())
            case .container: self.container = try message.text()
            case .environment: environment = try message.uint32()
            case .accessToken: self.accessToken = try message.text()
            case .installationID: self.installationID = try message.bytes()
            case .client: self.client = try message.text()
            case .windows: windows = try Windows(message.message())
            case .serviceKey: self.serviceKey = try ServiceKeyName(message.message())
            case .identityToken: self.identityToken = try message.text()
            }
        }
        guard let environment = UInt8(exactly: environment).flatMap(Environment.init(rawValue:)) else {
            throw WireError(.unknownNumber, field: "environment")
        }
        guard let windows else { throw WireError(.missing, field: "windows") }
        self.environment = environment
        self.windows = windows
        try self.check()
    }

    private func check() throws(WireError) {
        guard (1...Self.versionsMax).contains(self.versions.count) else {
            throw WireError(.outOfBounds, field: "versions")
        }
        guard self.container.utf8.count <= Bounds.nameBytesMax else {
            throw WireError(.outOfBounds, field: "container")
        }
        guard self.accessToken.utf8.count <= Self.accessTokenBytesMax else {
            throw WireError(.outOfBounds, field: "access_token")
        }
        guard self.identityToken.utf8.count <= Self.identityTokenBytesMax else {
            throw WireError(.outOfBounds, field: "identity_token")
        }
        let credentials = [!self.accessToken.isEmpty, self.serviceKey != nil, !self.identityToken.isEmpty]
        guard credentials.count(where: { $0 }) <= 1 else {
            throw WireError(.outOfBounds, field: "service_key")
        }
        guard [0, 16].contains(self.installationID.count) else {
            throw WireError(.outOfBounds, field: "installation_id")
        }
        guard self.client.utf8.count <= Self.clientBytesMax else {
            throw WireError(.outOfBounds, field: "client")
        }
    }

    package func encoded() -> ByteBuffer {
        var buffer = ByteBuffer.forMessage
        buffer.writePacked(Proto.Hello.versions, self.versions)
        buffer.writeField(Proto.Hello.container, self.container)
        buffer.writeField(Proto.Hello.environment, UInt32(self.environment.rawValue))
        buffer.writeField(Proto.Hello.accessToken, self.accessToken)
        buffer.writeField(Proto.Hello.installationID, self.installationID)
        buffer.writeField(Proto.Hello.client, messageText(self.client, bytesMax: Self.clientBytesMax))
        buffer.writeMessage(Proto.Hello.windows) { self.windows.encode(into: &$0) }
        if let serviceKey { buffer.writeMessage(Proto.Hello.serviceKey) { serviceKey.encode(into: &$0) } }
        buffer.writeField(Proto.Hello.identityToken, self.identityToken)
        return buffer
    }
}

extension Windows {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(connectionBytes: 0, streamBytes: 0)
        while let field = try message.next(Proto.Windows.self) {
            switch field {
            case .connectionBytes: self.connectionBytes = try message.uint32()
            case .streamBytes: self.streamBytes = try message.uint32()
            }
        }
        guard Self.permittedBytes.contains(self.connectionBytes) else {
            throw WireError(.outOfBounds, field: "connection_bytes")
        }
        guard Self.permittedBytes.contains(self.streamBytes) else {
            throw WireError(.outOfBounds, field: "stream_bytes")
        }
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(Proto.Windows.connectionBytes, self.connectionBytes)
        buffer.writeField(Proto.Windows.streamBytes, self.streamBytes)
    }
}

extension Welcome {
    /// Reads the payload of a `welcome`.
    package init(decoding payload: ByteBuffer) throws(WireError) {
        var version: UInt32 = 0
        var server = ""
        var userRecordName = ""
        var serverTimeMilliseconds: Int64 = 0
        var limits: Limits?
        var windows: Windows?
        var isRestricted = false
        var message = MessageReader(payload, "welcome")
        while let field = try message.next(Proto.Welcome.self) {
            switch field {
            case .version: version = try message.uint32()
            case .server: server = try message.text()
            case .userRecordName: userRecordName = try message.text()
            case .serverTimeMs: serverTimeMilliseconds = try message.int64()
            case .limits: limits = try Limits(message.message())
            case .windows: windows = try Windows(message.message())
            case .restricted: isRestricted = try message.bool()
            }
        }
        guard version > 0 else { throw WireError(.missing, field: "version") }
        guard let limits else { throw WireError(.missing, field: "limits") }
        guard let windows else { throw WireError(.missing, field: "windows") }
        guard max(server.utf8.count, userRecordName.utf8.count) <= ClientBounds.welcomeTextBytesMax else {
            throw WireError(.outOfBounds, field: "server")
        }
        self.init(
            version: version,
            server: server,
            userRecordName: userRecordName,
            serverTimeMilliseconds: serverTimeMilliseconds,
            limits: limits,
            windows: windows
        )
        self.isRestricted = isRestricted
    }

    package func encoded() -> ByteBuffer {
        var buffer = ByteBuffer.forMessage
        buffer.writeField(Proto.Welcome.version, self.version)
        buffer.writeField(Proto.Welcome.server, self.server)
        buffer.writeField(Proto.Welcome.userRecordName, self.userRecordName)
        buffer.writeField(Proto.Welcome.serverTimeMs, self.serverTimeMilliseconds)
        buffer.writeMessage(Proto.Welcome.limits) { self.limits.encode(into: &$0) }
        buffer.writeMessage(Proto.Welcome.windows) { self.windows.encode(into: &$0) }
        buffer.writeField(Proto.Welcome.restricted, self.isRestricted)
        return buffer
    }
}

extension GoAway {
    /// Reads the payload of a `goaway`.
    package init(decoding payload: ByteBuffer) throws(WireError) {
        self.init(reason: CloseReason(rawValue: 0), message: "")
        var message = MessageReader(payload, "goaway")
        while let field = try message.next(Proto.GoAway.self) {
            switch field {
            case .reason: self.reason = CloseReason(rawValue: try message.uint32())
            case .message: self.message = try message.text()
            case .retryAfterMs: self.retryAfterMilliseconds = try message.uint32()
            case .versions: self.versions += try message.packedUInt32s()
            case .versionsElement: self.versions.append(try message.uint32())
            }
        }
        guard self.message.utf8.count <= Bounds.messageBytesMax else {
            throw WireError(.outOfBounds, field: "message")
        }
        guard self.versions.count <= Hello.versionsMax else {
            throw WireError(.outOfBounds, field: "versions")
        }
    }

    /// The encoded message.
    ///
    /// A text that is too long is truncated.
    package func encoded() -> ByteBuffer {
        var buffer = ByteBuffer.forMessage
        buffer.writeField(Proto.GoAway.reason, self.reason.rawValue)
        buffer.writeField(Proto.GoAway.message, messageText(self.message, bytesMax: Bounds.messageBytesMax))
        buffer.writeField(Proto.GoAway.retryAfterMs, self.retryAfterMilliseconds)
        buffer.writePacked(Proto.GoAway.versions, self.versions)
        return buffer
    }
}
