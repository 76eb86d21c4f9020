import Logging

/// The log of the SDK, for what is wrong with a program and reaches it in no error.
package enum ClientLog {
    package static func warning(_ message: String, _ metadata: [String: String]) {
        Logger(label: "tidemark.client").warning(
            "\(message)",
            metadata: Logger.Metadata(uniqueKeysWithValues: metadata.map { ($0, .string($1)) })
        )
    }
}
