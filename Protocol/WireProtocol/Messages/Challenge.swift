package import NIOCore
import RecordModel

/// The key that a service signs with, and the user it acts for.
package struct ServiceKeyName: Hashable, Sendable {
    /// Hexadecimal digits of a SHA-256.
    package static let keyIDDigits = 64

    /// SHA-256 of the public key, in lower-case hexadecimal digits.
    package var keyID: String
    /// The name of a user; empty if the service acts for itself.
    package var onBehalfOf: String

    package init(keyID: String, onBehalfOf: String = "") {
        self.keyID = keyID
        self.onBehalfOf = onBehalfOf
    }

    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(keyID: "")
        while let field = try message.next(Proto.ServiceKey.self) {
            switch field {
            case .keyID: self.keyID = try message.text()
            case .onBehalfOf: self.onBehalfOf = try message.text()
            }
        }
        guard Self.isKeyID(self.keyID) else { throw WireError(.outOfBounds, field: "key_id") }
        guard self.onBehalfOf.utf8.count <= Bounds.nameBytesMax else {
            throw WireError(.outOfBounds, field: "on_behalf_of")
        }
    }

    package static func isKeyID(_ text: String) -> Bool {
        text.utf8.count == self.keyIDDigits
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(Proto.ServiceKey.keyID, self.keyID)
        buffer.writeField(Proto.ServiceKey.onBehalfOf, self.onBehalfOf)
    }
}

/// Frame `challenge`: a nonce for a service to sign, so that its signature is valid for this
/// connection alone.
package struct Challenge: Hashable, Sendable {
    package static let nonceBytes = 32

    /// 32 random bytes.
    package var nonce: [UInt8]

    package init(nonce: [UInt8]) {
        self.nonce = nonce
    }

    /// Reads the payload of a `challenge`.
    package init(decoding payload: ByteBuffer) throws(WireError) {
        self.nonce = []
        var message = MessageReader(payload, "challenge")
        while let field = try message.next(Proto.Challenge.self) {
            switch field {
            case .nonce: self.nonce = try message.bytes()
            }
        }
        guard self.nonce.count == Self.nonceBytes else { throw WireError(.outOfBounds, field: "nonce") }
    }

    package func encoded() -> ByteBuffer {
        var buffer = ByteBuffer.forMessage
        buffer.writeField(Proto.Challenge.nonce, self.nonce)
        return buffer
    }
}

/// Frame `proof`: the signature.
package struct Proof: Hashable, Sendable {
    package static let signatureBytes = 64

    /// r and s, 32 bytes each.
    package var signature: [UInt8]

    package init(signature: [UInt8]) {
        self.signature = signature
    }

    /// Reads the payload of a `proof`.
    package init(decoding payload: ByteBuffer) throws(WireError) {
        self.signature = []
        var message = MessageReader(payload, "proof")
        while let field = try message.next(Proto.Proof.self) {
            switch field {
            case .signature: self.signature = try message.bytes()
            }
        }
        guard self.signature.count == Self.signatureBytes else {
            throw WireError(.outOfBounds, field: "signature")
        }
    }

    package func encoded() -> ByteBuffer {
        var buffer = ByteBuffer.forMessage
        buffer.writeField(Proto.Proof.signature, self.signature)
        return buffer
    }
}
