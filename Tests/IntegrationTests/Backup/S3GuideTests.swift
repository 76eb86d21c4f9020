import Foundation
import TestSupport
import Testing

/// Every command of the guide about S3, in its order, as an operator would paste them.
///
/// `rclone` keeps the bucket in a folder, and on a server of S3's protocol as well if
/// `TIDEMARK_S3_SERVER` names one (`Scripts/test` does).
@Suite(.timeLimit(.minutes(10)))
struct S3GuideTests {
    private static let guide = Readme.repository.appendingPathComponent("Sources/tidemark/Guides/S3.md")

    /// The place of the bucket.
    enum Storage: CustomTestStringConvertible {
        case folder
        /// A folder with the programs of a Python environment.
        case server(String)

        static var all: [Storage] {
            [.folder]
                + (ProcessInfo.processInfo.environment["TIDEMARK_S3_SERVER"].map { [.server($0)] } ?? [])
        }

        var testDescription: String {
            switch self {
            case .folder: "a folder"
            case .server: "a server"
            }
        }

        /// A folder has no uploads that were interrupted, and `rclone` says so.
        var hasUploads: Bool { if case .server = self { true } else { false } }

        /// Makes the bucket, and says what stands for the line with the real service.
        func prepare(_ folder: String, _ port: Int) -> (script: String, remote: String) {
            switch self {
            case .folder:
                ("mkdir '\(folder)/tidemark-backups'", "rclone config create vault alias remote='\(folder)'")
            case .server(let programs):
                (
                    """
                    '\(programs)/moto_server' -H 127.0.0.1 -p \(port) > '\(folder)/s3.log' 2>&1 &
                    bucket=$!
                    for try in $(seq 100); do
                        (: < /dev/tcp/127.0.0.1/\(port)) 2> /dev/null && break
                        sleep 0.2
                    done
                    '\(programs)/python3' - <<'END'
                    import boto3
                    client = boto3.client("s3", endpoint_url="http://127.0.0.1:\(port)", region_name="us-east-1",
                                          aws_access_key_id="key", aws_secret_access_key="secret")
                    client.create_bucket(Bucket="tidemark-backups")
                    client.put_bucket_versioning(Bucket="tidemark-backups",
                                                 VersioningConfiguration={"Status": "Enabled"})
                    END
                    """,
                    "KEY=key SECRET=secret\nrclone config create vault s3 provider=Other "
                        + "endpoint=http://127.0.0.1:\(port) access_key_id=\"$KEY\" secret_access_key=\"$SECRET\""
                )
            }
        }
    }

    /// Before the guide: a server with data, and what stands for the machine's own commands.
    ///
    /// `sudo` and `systemctl` act on the server of this test, and paths of the machine are below its
    /// folder.
    private static func prelude(_ folder: String, _ port: Int, bucket: String) -> String {
        """
        set -eu
        cd '\(folder)'
        unset AWS_CA_BUNDLE
        export RCLONE_CONFIG='\(folder)/rclone.conf' no_proxy=127.0.0.1 NO_PROXY=127.0.0.1
        PATH='\(ChildProcess.tidemark.deletingLastPathComponent().path)':$PATH
        server= follow= bucket=
        # Python leaves SIGTERM ignored if this process ignores it.
        trap 'kill -KILL $server $follow $bucket 2> /dev/null; wait' EXIT
        serve() {
            tidemark serve --data '\(folder)/data' --listen 127.0.0.1:\(port) >> serve.log 2>&1 & server=$!
            for try in $(seq 100); do
                tidemark status --data '\(folder)/data' > /dev/null 2>&1 && return
                sleep 0.1
            done
            cat serve.log; exit 1
        }
        sudo() { while [[ $1 == -* ]]; do [[ $1 != -u ]] || shift; shift; done; "$@"; }
        apt-get() { for name in "${@:2}"; do command -v "$name" > /dev/null; done; }
        install() { mkdir -m 700 "${@: -1}"; }
        systemctl() {
            case $* in
            "stop tidemark") kill $server; wait $server; server= ;;
            "start tidemark") serve ;;
            "stop tidemark-follow") kill $follow; wait $follow; follow= ;;
            "start tidemark-follow")
                tidemark backup --follow --data '\(folder)/data' --to '\(folder)/follow' > follow.log 2>&1 &
                follow=$! ;;
            *) echo "systemctl $*"; exit 1 ;;
            esac
        }
        records() { tidemark records export --container iCloud.org.example.app --as "$2" --data "$1" \\
            --zone Notes --assets "files-$1-$2-$RANDOM" |
            sed 's/"recordChangeTag":"[^"]*",*//; s/_[0-9a-f]\\{32\\}/USER/g' | sort; }
        \(bucket)
        serve
        tidemark container create iCloud.org.example.app --data data
        for user in alice bob; do
            tidemark user add $user --container iCloud.org.example.app --data data > /dev/null 2>&1
        done
        head -c 3000000 /dev/urandom > file
        hash=$(sha256sum file | cut -d ' ' -f 1)
        mkdir in.jsonl.assets
        cp file in.jsonl.assets/$hash
        for number in $(seq 200); do
            echo '{"recordName":"n'$number'","recordType":"Note","zoneID":{"zoneName":"Notes"},' \\
                '"fields":{"n":{"value":'$number'},' \\
                '"file":{"type":"ASSETID","value":{"fileChecksum":"'$hash'","size":3000000}}}}'
        done > in.jsonl
        tidemark records import in.jsonl --container iCloud.org.example.app --as alice --create-zones \\
            --data data > /dev/null
        records data alice > before
        systemctl start tidemark-follow
        for try in $(seq 200); do grep -q . follow.log && break; sleep 0.1; done

        """
    }

    /// After the guide: everything is where it was, and in the other places too.
    private static let postlude = """

        records data alice > after
        records tidemark-state alice > state
        records data bob > bobs
        for other in after state bobs; do cmp before $other; done
        [[ $(wc -l < before) == 200 ]]
        rclone lsf -R vault:tidemark-backups
        [[ -z $(rclone lsf --files-only -R vault:tidemark-backups/unfinished 2> /dev/null) ]]
        for object in "daily/$name" zones/alice.age; do
            if rclone cat "vault:tidemark-backups/$object" | grep -qa 'iCloud.org.example.app'; then exit 1; fi
        done
        echo "the guide works"
        """

    @Test(arguments: Storage.all)
    func `each command of the guide works, and brings everything back`(storage: Storage) async throws {
        let folder = try TemporaryDirectory()
        let port = FreePort.take()
        let bucket = FreePort.take()
        let (preparation, remote) = storage.prepare(folder.path, bucket)
        let blocks = FencedBlock.all(in: try String(contentsOf: Self.guide, encoding: .utf8))
            .filter { $0.language == "sh" }.map(\.text)
        #expect(blocks.count >= 8)
        let real = /rclone config create [^\n]*\\\n[^\n]*/
        #expect(blocks.count { $0.contains(real) } == 1)
        let cleanup = "rclone cleanup vault:tidemark-backups"
        #expect(blocks.count { $0.contains(cleanup) } == 1)
        let steps = blocks.map { block in
            block.replacing(real, with: remote)
                .replacingOccurrences(of: cleanup, with: storage.hasUploads ? cleanup : ":")
                .replacingOccurrences(of: "/var/lib/tidemark", with: folder.path + "/data")
                .replacingOccurrences(of: "/mnt/follow", with: folder.path + "/follow")
                .replacingOccurrences(of: "/var/tmp/", with: folder.path + "/")
        }
        let prelude = Self.prelude(folder.path, port, bucket: preparation)
        let script = prelude + steps.joined(separator: "\n") + Self.postlude
        let outcome = try await ChildProcess.run(URL(fileURLWithPath: "/bin/bash"), ["-c", script])
        #expect(outcome.exitCode == 0, "\(outcome.output)\n\(outcome.errors)")
        #expect(outcome.output.hasSuffix("the guide works\n"), "\(outcome.output)\n\(outcome.errors)")
    }
}
