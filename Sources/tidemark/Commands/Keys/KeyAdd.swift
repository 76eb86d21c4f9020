import Administration
import ArgumentParser
import RecordServer

struct KeyAdd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract:
            "Register a key of a service; without --public-key make one and print the private key, once.",
        discussion: """
            Prints the private key to standard output in PEM, and stores it \
            nowhere. The first key adds the service. Further keys share its name, \
            its user record and its roles. A connection with a key that was registered with \
            --read-only reads what the service or the user may read, and changes nothing.

              tidemark key add shop --container iCloud.org.example.app > shop.pem
              tidemark key add shop --container iCloud.org.example.app \\
                  --on-behalf-of alice > shop.pem
              tidemark key add report --container iCloud.org.example.app \\
                  --read-only > report.pem
              openssl ecparam -name prime256v1 -genkey -noout |
                  openssl pkcs8 -topk8 -nocrypt -out shop.pem
              openssl pkey -in shop.pem -pubout -out shop.pub
              tidemark key add shop --container iCloud.org.example.app --public-key shop.pub
            """
    )

    @OptionGroup var service: ServiceArguments
    @OptionGroup var result: ResultOption

    @Option(
        help: ArgumentHelp("A public key in PEM, ECDSA on P-256; standard input if '-'.", valueName: "file")
    )
    var publicKey: String?

    @Option(
        name: .customLong("on-behalf-of"),
        help: ArgumentHelp(
            "A user for whom the service may act with this key. Repeatable.",
            valueName: "user"
        )
    )
    var onBehalfOf: [String] = []

    @Flag(help: "Let the key read only: every save, delete, upload and change of a share is refused.")
    var readOnly = false

    func run() async throws {
        let pair = try self.pair()
        try await self.service.open {
            try $0.register(pair, onBehalfOf: self.onBehalfOf, isReadOnly: self.readOnly)
        }
        var object = KeyResult(self.service)
        object.keyID = pair.keyID
        object.readOnly = self.readOnly
        object.privateKey = pair.privatePEM
        try self.result.write(object) {
            if let privatePEM = pair.privatePEM {
                Terminal.write(privatePEM + "\n")
                Terminal.writeError("The private key above is not shown again, and is stored nowhere.\n")
            }
            let what = self.readOnly ? "the read-only key" : "the key"
            Terminal.writeError("Registered \(what) \(pair.keyID) of \(self.service.name).\n")
        }
    }

    private static let publicKeyBytesMax = 64 * 1_024

    private func pair() throws(CommandFailure) -> ServiceKeyPair {
        guard let publicKey else { return ServiceKeyPair() }
        let pem = try WholeFile.bytes(publicKey, called: "the key", bytesMax: Self.publicKeyBytesMax)
        guard pem.count <= Self.publicKeyBytesMax,
            let pair = ServiceKeyPair(publicPEM: String(decoding: pem, as: UTF8.self))
        else {
            throw CommandFailure(
                .data,
                "\(publicKey) is not a public key in PEM on the curve P-256. "
                    + "To extract it from a private key: openssl pkey -in KEY.pem -pubout"
            )
        }
        return pair
    }
}
